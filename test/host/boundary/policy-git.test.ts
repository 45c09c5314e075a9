import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type BoundaryPolicy, resolvePolicy } from '../../../src/host/boundary/policy.ts'
import { gitMountsMax } from '../../../src/limits.ts'
import { makePlace, type Place } from '../../support/sandboxed.ts'

let place: Place
let workspace: string

beforeEach(() => {
  place = makePlace()
  workspace = place.workspace
})

afterEach(() => {
  place.remove()
})

const readOnly = (policy: Partial<BoundaryPolicy> = {}): BoundaryPolicy => ({
  readable: [workspace],
  offline: true,
  ...policy,
})

const refusing = (problem: string) => ({ code: 'io', field: `boundary.${problem}` })

describe('git entries of a writable checkout', () => {
  const gitOf = async (): Promise<string[]> =>
    [...(await resolvePolicy(readOnly({ checkout: workspace }))).git].map((path) =>
      path.slice(workspace.length + 1),
    )

  it('are found at any depth, and only as whole names', async () => {
    writeFileSync(join(workspace, '.git'), 'gitdir: /somewhere/else\n')
    mkdirSync(join(workspace, 'nested', 'deep', '.git', 'modules', 'x', '.git'), { recursive: true })
    mkdirSync(join(workspace, '.github'))
    writeFileSync(join(workspace, 'x.git'), '')
    expect(await gitOf()).toEqual(['.git', 'nested/deep/.git'])
  })

  it('bring along the repository that a .git file names inside the checkout', async () => {
    mkdirSync(join(workspace, 'sub'))
    mkdirSync(join(workspace, 'modules', 'sub'), { recursive: true })
    writeFileSync(join(workspace, 'sub', '.git'), 'gitdir: ../modules/sub\n')
    expect(await gitOf()).toEqual(['sub/.git', 'modules/sub'])
  })

  it('bring along what links inside lead to: hooks that live elsewhere in the checkout', async () => {
    mkdirSync(join(workspace, '.git', 'hooks'), { recursive: true })
    mkdirSync(join(workspace, 'scripts'))
    writeFileSync(join(workspace, 'scripts', 'check.sh'), '')
    symlinkSync('../../scripts/check.sh', join(workspace, '.git', 'hooks', 'pre-commit'))
    symlinkSync('HEAD', join(workspace, '.git', 'other'))
    expect(await gitOf()).toEqual(['.git', 'scripts/check.sh'])
  })

  it('refuse where they cannot be protected', async () => {
    mkdirSync(join(workspace, 'real'))
    symlinkSync('real', join(workspace, '.git'))
    await expect(gitOf()).rejects.toMatchObject(refusing('unsafe'))
  })

  it('refuse where a hook is a link to something that the command could make', async () => {
    mkdirSync(join(workspace, '.git', 'hooks'), { recursive: true })
    symlinkSync('../../not-there', join(workspace, '.git', 'hooks', 'pre-commit'))
    await expect(gitOf()).rejects.toMatchObject(refusing('unsafe'))
  })

  it('bring along what links in those places lead to in turn', async () => {
    mkdirSync(join(workspace, '.git'))
    mkdirSync(join(workspace, 'hooks'))
    mkdirSync(join(workspace, 'scripts'))
    writeFileSync(join(workspace, 'scripts', 'check.sh'), '')
    symlinkSync('../hooks', join(workspace, '.git', 'hooks'))
    symlinkSync('../scripts/check.sh', join(workspace, 'hooks', 'pre-commit'))
    expect(await gitOf()).toEqual(['.git', 'hooks', 'scripts/check.sh'])
  })

  it('bring along the repository that a worktree shares, when its name is not .git', async () => {
    mkdirSync(join(workspace, 'bare', 'worktrees', 'w'), { recursive: true })
    writeFileSync(join(workspace, 'bare', 'worktrees', 'w', 'commondir'), '../..\n')
    mkdirSync(join(workspace, 'w'))
    writeFileSync(join(workspace, 'w', '.git'), 'gitdir: ../bare/worktrees/w\n')
    expect(await gitOf()).toEqual(['w/.git', 'bare/worktrees/w', 'bare'])
  })

  it('bring along other names of the same files', async () => {
    mkdirSync(join(workspace, '.git', 'hooks'), { recursive: true })
    mkdirSync(join(workspace, 'share'))
    writeFileSync(join(workspace, 'share', 'hook'), '')
    linkSync(join(workspace, 'share', 'hook'), join(workspace, '.git', 'hooks', 'pre-commit'))
    expect(await gitOf()).toEqual(['.git', 'share/hook'])
  })

  it('refuse where the way there is over a link that the command could replace', async () => {
    mkdirSync(join(workspace, '.git'))
    mkdirSync(join(workspace, 'real'))
    symlinkSync('real', join(workspace, 'link'))
    symlinkSync('../link', join(workspace, '.git', 'hooks'))
    await expect(gitOf()).rejects.toMatchObject(refusing('unsafe'))
  })

  it('hold every directory above them, and every one on the way there, once and shallow first', async () => {
    mkdirSync(join(workspace, 'a', 'b', 'one', '.git'), { recursive: true })
    mkdirSync(join(workspace, 'a', 'b', 'two', '.git'), { recursive: true })
    mkdirSync(join(workspace, 'x', 'y'), { recursive: true })
    mkdirSync(join(workspace, '.git'))
    mkdirSync(join(workspace, 'hooks'))
    symlinkSync('../x/y/../../hooks', join(workspace, '.git', 'hooks'))
    const { held } = await resolvePolicy(readOnly({ checkout: workspace }))
    const names = held.map((path) => path.slice(workspace.length + 1))
    expect(names).toEqual(['a', 'x', 'a/b', 'x/y', 'a/b/one', 'a/b/two'])
  })

  it('refuse, naming both numbers, when they are too many to mount', async () => {
    for (let at = 0; at <= gitMountsMax / 2; at += 1) {
      mkdirSync(join(workspace, `r${at}`, '.git'), { recursive: true })
    }
    await expect(gitOf()).rejects.toMatchObject({
      ...refusing('unsafe'),
      message: expect.stringContaining('513 git paths and 513 directories above them, at most 1024'),
    })
  })

  it('refuse in a tree that cannot be read whole', async () => {
    const tree = { root: workspace, digest: '', entries: [], faults: ['x: gone'], complete: false }
    const policy = readOnly({ checkout: workspace, tree })
    await expect(resolvePolicy(policy)).rejects.toMatchObject(refusing('resolve'))
  })

  it('are not looked for without a checkout', async () => {
    execFileSync('mkdir', [join(workspace, '.git')])
    expect((await resolvePolicy(readOnly())).git).toEqual([])
  })
})
