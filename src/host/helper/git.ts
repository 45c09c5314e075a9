import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { Refusal } from '../../protocol/refusal.ts'
import { firstLine, runHelper } from './run-helper.ts'

/** The only places where git is looked for. */
const gitPlaces = ['/usr/bin/git', '/run/current-system/sw/bin/git']

/** Nothing of the machine's or the person's git settings, and nothing that a repository could make git run. */
const environment = {
  PATH: '/usr/bin:/bin:/run/current-system/sw/bin',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
}
const settings = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null']

/**
 * The commit that a workspace has checked out, as git prints it. Refuses `io`: no git, not a repository, no commit yet.
 * @see spec/execution.md §4 step 7
 */
export async function headRevision(workspace: string): Promise<string> {
  const revision = await git(workspace, ['rev-parse', '--verify', 'HEAD'])
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(revision))
    throw new Refusal('io', 'git gave no revision for HEAD')
  return revision
}

/** The directory that all worktrees of a workspace's repository share: an absolute path. Refuses `io`. */
export async function commonDir(workspace: string): Promise<string> {
  const path = await git(workspace, ['rev-parse', '--path-format=absolute', '--git-common-dir'])
  if (!isAbsolute(path)) throw new Refusal('io', 'git gave no absolute common directory')
  return path
}

/** Runs git in a workspace and gives its output without the final newline. */
async function git(workspace: string, args: readonly string[]): Promise<string> {
  const program = gitPlaces.find((place) => existsSync(place))
  if (program === undefined) {
    throw new Refusal('io', `git is missing: it is looked for at ${gitPlaces.join(' and ')}`, {
      hint: 'install git',
    })
  }
  const end = await runHelper(program, [...settings, ...args], { cwd: workspace, env: environment })
  if (end.exitCode === 0 && !end.truncated) return Buffer.from(end.stdout).toString('utf8').replace(/\n$/, '')
  throw new Refusal('io', `git ${args[0]} ${failure(end)}`)
}

function failure(end: Awaited<ReturnType<typeof runHelper>>): string {
  if (end.notStarted !== null) return `could not be started (${end.notStarted})`
  if (end.timedOut) return 'did not end in time'
  if (end.truncated) return 'printed too much'
  return `failed: ${firstLine(end.stderr) || `exit ${end.exitCode}`}`
}
