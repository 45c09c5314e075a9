import { execa } from 'execa'

/** Builds `dist` once for the tests that spawn the command line. */
export async function setup(): Promise<void> {
  await execa('npm', ['run', '--silent', 'build'], { cwd: new URL('..', import.meta.url).pathname })
}
