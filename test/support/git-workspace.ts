import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { tempDir } from './temp-dir.ts'

/** A linked worktree of a small repository whose git directory lies elsewhere: what a writing grant needs. */
export interface GitWorkspace {
  /** The worktree. */
  readonly path: string
  /** The repository that it belongs to. */
  readonly repository: string
  /** The commit that is checked out. */
  readonly head: string
}

/** Makes a worktree that holds `files`, by relative path; `list.txt` alone unless said otherwise. */
export async function gitWorkspace(
  files: Record<string, string> = { 'list.txt': 'pears\napples\n' },
): Promise<GitWorkspace> {
  const base = await tempDir()
  const repository = join(base, 'repository')
  const path = join(base, 'worktree')
  await mkdir(repository)
  await git(repository, ['init', '--quiet', '--initial-branch=main'])
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(repository, name, '..'), { recursive: true })
    await writeFile(join(repository, name), text)
  }
  await git(repository, ['add', '--all'])
  await git(repository, ['commit', '--quiet', '--allow-empty', '--message', 'Begin'])
  await git(repository, ['worktree', 'add', '--quiet', '-b', 'work', path])
  return { path, repository, head: await git(path, ['rev-parse', 'HEAD']) }
}

async function git(cwd: string, args: readonly string[]): Promise<string> {
  const settings = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false']
  const env = { PATH: '/usr/bin:/bin', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const { stdout } = await execa('git', [...settings, ...args], { cwd, env, extendEnv: false })
  return stdout.trim()
}
