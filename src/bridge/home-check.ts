import { isRefusal, Refusal } from '../protocol/refusal.ts'
import type { Disk } from '../seams/disk.ts'
import { homePaths } from './paths.ts'

/**
 * Checks that nobody else can reach a home, as far as it is there. Nothing is made.
 *
 * Refuses `unsafe_path`, with what to type, for a directory that others can reach or that is none of ours.
 * @see spec/cli.md
 */
export async function checkHome(disk: Disk, home: string): Promise<void> {
  const { host, run, tasks } = homePaths(home)
  await withModeHints(home, async () => {
    for (const directory of [home, host, run, tasks]) {
      if ((await disk.identity(directory)) !== null) await disk.checkDirectory(directory)
    }
  })
}

/** Runs `run`; a refusal because others can reach a file of the home says what to type against it. */
export async function withModeHints<T>(home: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!isRefusal(error, 'unsafe_path') || !error.message.includes('accessible to others')) throw error
    const hint = `chmod -R go= '${home.replaceAll("'", "'\\''")}'`
    throw new Refusal('unsafe_path', error.message, { cause: error, hint })
  }
}
