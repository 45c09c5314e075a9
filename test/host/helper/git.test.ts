import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { commonDir, headRevision } from '../../../src/host/helper/git.ts'
import { tempDir } from '../../support/temp-dir.ts'

let root: string
let repository: string

function git(...args: string[]): string {
  const identity = [
    '-c',
    'user.name=T',
    '-c',
    'user.email=t@example.invalid',
    '-c',
    'init.defaultBranch=main',
  ]
  return execFileSync('git', [...identity, ...args], { cwd: repository, stdio: 'pipe' })
    .toString()
    .trim()
}

beforeEach(async () => {
  root = await tempDir()
  repository = join(root, 'repository')
  mkdirSync(repository)
  git('init', '-q')
})

describe('a repository', () => {
  it('has its revision and its own git directory', async () => {
    git('commit', '-q', '--allow-empty', '-m', 'First')
    expect(await headRevision(repository)).toBe(git('rev-parse', 'HEAD'))
    expect(await commonDir(repository)).toBe(join(repository, '.git'))
  })

  it('shares its git directory with its worktrees', async () => {
    git('commit', '-q', '--allow-empty', '-m', 'First')
    git('worktree', 'add', '-q', join(root, 'tree'))
    expect(await commonDir(join(root, 'tree'))).toBe(join(repository, '.git'))
    expect(await headRevision(join(root, 'tree'))).toBe(git('rev-parse', 'HEAD'))
  })

  it('refuses without a commit', async () => {
    await expect(headRevision(repository)).rejects.toMatchObject({ code: 'io' })
  })

  it('runs none of the programs that its settings name', async () => {
    git('commit', '-q', '--allow-empty', '-m', 'First')
    const mark = join(root, 'mark')
    const trap = join(root, 'trap.sh')
    writeFileSync(trap, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
    git('config', 'core.fsmonitor', trap)
    git('config', 'core.hooksPath', root)
    await headRevision(repository)
    await commonDir(repository)
    expect(existsSync(mark)).toBe(false)
  })
})

describe('no repository', () => {
  it('refuses, and says what git said', async () => {
    const plain = join(root, 'plain')
    mkdirSync(plain)
    await expect(headRevision(plain)).rejects.toMatchObject({
      code: 'io',
      message: expect.stringMatching(/not a git repository/),
    })
    await expect(commonDir(plain)).rejects.toMatchObject({ code: 'io' })
  })

  it('refuses where there is no directory', async () => {
    await expect(headRevision(join(root, 'missing'))).rejects.toMatchObject({ code: 'io' })
  })
})
