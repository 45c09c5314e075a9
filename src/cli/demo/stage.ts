import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runHelper } from '../../host/helper/run-helper.ts'
import { Refusal } from '../../protocol/refusal.ts'

/** Where the demo plays: everything of it lies under one temporary folder. */
export interface Stage {
  readonly base: string
  readonly home: string
  /** The device's own directory. */
  readonly device: string
  /** A linked worktree: its git directory lies in the repository beside it. */
  readonly workspace: string
}

const gitEnvironment = {
  PATH: '/usr/bin:/bin:/run/current-system/sw/bin',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Demo',
  GIT_AUTHOR_EMAIL: 'demo@example.invalid',
  GIT_COMMITTER_NAME: 'Demo',
  GIT_COMMITTER_EMAIL: 'demo@example.invalid',
}

/** Makes the temporary folder, and in it a small repository with a worktree. Refuses `io` where git fails. */
export async function setStage(): Promise<Stage> {
  const base = await mkdtemp(join(tmpdir(), 'drawbridge-demo-'))
  const stage = {
    base,
    home: join(base, 'home'),
    device: join(base, 'device'),
    workspace: join(base, 'workspace'),
  }
  try {
    const repository = join(base, 'repository')
    await git(base, ['init', '--quiet', '--initial-branch=main', repository])
    await writeFile(join(repository, 'README.md'), 'A small repository for the demo.\n')
    await git(repository, ['add', 'README.md'])
    await git(repository, ['commit', '--quiet', '--message', 'Begin'])
    await git(repository, ['worktree', 'add', '--quiet', '-b', 'demo', stage.workspace])
    return stage
  } catch (error) {
    await strike(stage)
    throw error
  }
}

/** Removes everything of the stage. */
export async function strike(stage: Stage): Promise<void> {
  await rm(stage.base, { recursive: true, force: true, maxRetries: 3 })
}

/** Puts a file into the workspace, as somebody outside the turn would. */
export async function putFile(stage: Stage, name: string): Promise<void> {
  await writeFile(join(stage.workspace, name), '')
}

async function git(cwd: string, args: readonly string[]): Promise<void> {
  const end = await runHelper('/usr/bin/git', args, { cwd, env: gitEnvironment })
  if (end.exitCode === 0) return
  throw new Refusal('io', `git ${args[0]} failed: ${Buffer.from(end.stderr).toString('utf8').trim()}`)
}
