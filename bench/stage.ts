import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'

const program = new URL('../dist/cli/main.js', import.meta.url).pathname
const environment = { DRAWBRIDGE_ALLOW_ROOT: '1' }

/** A real service with its embedded relay in a process of its own, and the state directory of a paired device. */
export interface Stage {
  readonly home: string
  readonly device: string
  /** Runs one command with `--json` and reads what it printed. */
  ask(args: readonly string[], input?: string): Promise<Record<string, unknown>>
  /** Stops the service and removes every file. */
  strike(): Promise<void>
}

/** An initialised home with one workspace, `bench`, that no policy starts anything in, and its relay's address. */
export interface Home {
  readonly base: string
  readonly home: string
  readonly port: number
  /** Runs one command with `--json` and reads what it printed. */
  ask(args: readonly string[], input?: string): Promise<Record<string, unknown>>
  remove(): Promise<void>
}

export async function makeHome(): Promise<Home> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'drawbridge-bench-')))
  const home = join(base, 'home')
  const workspace = join(base, 'workspace')
  const git = (...args: string[]) =>
    execa('git', [
      '-C',
      workspace,
      '-c',
      'user.name=Bench',
      '-c',
      'user.email=bench@example.invalid',
      ...args,
    ])
  await execa('git', ['init', '--quiet', workspace])
  await git('commit', '--quiet', '--allow-empty', '--message', 'Begin')
  const env = { ...environment, DRAWBRIDGE_HOME: home }
  const ask = async (args: readonly string[], input = ''): Promise<Record<string, unknown>> => {
    const { stdout } = await execa(process.execPath, [program, ...args, '--json'], { env, input })
    return JSON.parse(stdout) as Record<string, unknown>
  }
  const port = 40_000 + (process.pid % 20_000)
  const relay = `ws://127.0.0.1:${port}`
  const about = ['--relay', relay, '--workspace', `bench=${workspace}`]
  await ask(['init', '--create-owner', '--loopback-test', ...about])
  return { base, home, port, ask, remove: () => rm(base, { recursive: true, force: true }) }
}

/** Makes a home (what is created stays queued), serves it and pairs a device. */
export async function setStage(): Promise<Stage> {
  const { base, home, port, ask, remove } = await makeHome()
  const device = join(base, 'device')
  const serve = execa(
    process.execPath,
    [program, 'serve', '--loopback-test', '--embedded-relay', `127.0.0.1:${port}`, '--log-level', 'warn'],
    {
      env: { ...environment, DRAWBRIDGE_HOME: home },
      reject: false,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  await ask(['status', '--wait', '20'])
  const invitation = await ask(['invite', '--no-qr'])
  await ask(['device', 'redeem', '-', '--state', device, '--loopback-test'], String(invitation['code']))
  return {
    home,
    device,
    ask,
    async strike() {
      serve.kill('SIGTERM')
      await serve
      await remove()
    },
  }
}
