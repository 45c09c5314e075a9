import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { gitMountsMax } from '../../../src/limits.ts'
import { makePlace, type Place, runScript } from '../../support/sandboxed.ts'

let place: Place

beforeEach(() => {
  place = makePlace()
})

afterEach(() => {
  place.remove()
})

const inWorkspace = (...names: string[]): string => join(place.workspace, ...names)

/** A real repository with one file that is not committed. */
function repository(...names: string[]): string {
  const path = inWorkspace(...names)
  mkdirSync(path, { recursive: true })
  git(path, 'init', '-q')
  writeFileSync(join(path, 'list'), 'as it was\n')
  return path
}

function git(directory: string, ...args: string[]): string {
  const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.org']
  return execFileSync('git', ['-C', directory, ...who, ...args], {
    env: { PATH: process.env['PATH'], HOME: place.home, GIT_CONFIG_NOSYSTEM: '1' },
    stdio: 'pipe',
  }).toString()
}

/** Everything of a repository's own: names, kinds, modes and contents. */
function state(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(directory, name)
      const stat = lstatSync(path)
      const inside = stat.isFile() ? readFileSync(path, 'latin1') : ''
      return `${name} ${stat.ino} ${stat.mode} ${inside}`
    })
}

/** Runs an attack whose steps may all fail, and shows that it changed no repository and left no hook. */
async function withstands(attack: string, ...repositories: string[]): Promise<void> {
  const before = repositories.map((path) => state(join(path, '.git')))
  const plant = (at: string): string =>
    `{ mkdir -p ${at}/hooks && printf '#!/bin/sh\\ntouch ${place.root}/owned\\n' > ${at}/hooks/post-commit && chmod 755 ${at}/hooks/post-commit; } 2>/dev/null || true`
  const plants = repositories.map((path) => plant(`${path}/.git`)).join('\n')
  const end = await runScript(place, `${attack}\n${plants}\necho finished`, { write: true })
  expect(end.output, end.stderr.text).toContain('finished')
  expect(repositories.map((path) => state(join(path, '.git')))).toEqual(before)
  for (const path of repositories) git(path, 'commit', '-q', '--allow-empty', '-m', 'mine')
  expect(existsSync(join(place.root, 'owned'))).toBe(false)
}

describe('a repository nested in a writable workspace', () => {
  it('is not replaced by renaming the directory that it is in', async () => {
    const nested = repository('nested')
    await withstands('mv nested old; cp -r old nested; mv -T old nested', nested)
    expect(existsSync(inWorkspace('old', '.git', 'hooks', 'post-commit'))).toBe(false)
  })

  it('outlives the removal of the directory that it is in', async () => {
    const nested = repository('nested')
    await withstands('rm -rf nested; rmdir nested; mkdir nested', nested)
    expect(existsSync(join(nested, 'list'))).toBe(false)
  })

  it('is not replaced by a link in place of its directory, nor exchanged with another', async () => {
    const nested = repository('nested')
    await withstands(
      'cp -r nested other; mv nested away; ln -sfn other nested; ln -sfT other nested; mv -fT other nested',
      nested,
    )
    expect(lstatSync(nested).isDirectory()).toBe(true)
  })

  it('is not moved along with a directory two levels up', async () => {
    const nested = repository('one', 'two', 'nested')
    await withstands(
      'for d in one one/two one/two/nested; do mv $d moved; cp -r moved $d; rm -rf $d; done',
      nested,
    )
    expect(readdirSync(inWorkspace('one', 'two'))).toEqual(['nested'])
  })

  it('is protected however deep it is', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `d${at}`)
    const nested = repository(...names)
    const each = names.map((_, at) => names.slice(0, at + 1).join('/')).join(' ')
    await withstands(`for d in ${each}; do mv $d moved; done; rm -rf d0`, nested)
  })

  it('is protected beside others that share its parents, and inside another', async () => {
    const all = [repository('a', 'b', 'x'), repository('a', 'b', 'y'), repository('a', 'z'), repository('a')]
    await withstands('for d in a a/b a/b/x a/b/y a/z; do mv $d moved; rm -rf $d; done', ...all)
  })

  it('cannot be changed through another name that it gets', async () => {
    const nested = repository('nested')
    await withstands(
      'ln nested/.git/config name; ln -s nested/.git/config link; echo x > name; echo x > link; mv nested/.git here',
      nested,
    )
  })

  it('cannot be changed through another name that it had', async () => {
    const nested = repository('nested')
    mkdirSync(inWorkspace('share'))
    const hook = inWorkspace('share', 'hook')
    writeFileSync(hook, '#!/bin/sh\n')
    chmodSync(hook, 0o755)
    linkSync(hook, join(nested, '.git', 'hooks', 'post-commit'))
    const attack = `printf '#!/bin/sh\\ntouch ${place.root}/owned\\n' > share/hook`
    await withstands(attack, nested)
  })
})

describe('hooks that live elsewhere in the workspace', () => {
  it.each([
    ['their directory', 'mv scripts old; cp -r old scripts'],
    ['a directory on the way there', 'mv x old; mkdir -p x other/hooks; ln -s ../other/y x/y'],
  ])('are not replaced by renaming %s', async (_, attack) => {
    const nested = repository('nested')
    for (const path of ['x/y', 'scripts/hooks']) mkdirSync(inWorkspace(path), { recursive: true })
    execFileSync('rm', ['-rf', join(nested, '.git', 'hooks')])
    symlinkSync('../../x/y/../../scripts/hooks', join(nested, '.git', 'hooks'))
    await withstands(attack, nested)
    expect(readdirSync(inWorkspace('scripts', 'hooks'))).toEqual([])
  })
})

describe('a `.git` file', () => {
  it('of the workspace itself stays what it is, and so does the workspace', async () => {
    const file = inWorkspace('.git')
    writeFileSync(file, 'gitdir: /elsewhere\n')
    const { ino } = lstatSync(file)
    const end = await runScript(
      place,
      [
        'echo "gitdir: /tmp" > .git',
        'echo "gitdir: /tmp" > new; mv -f new .git; cp -f new .git; ln -f new .git; ln -sf new .git',
        'rm -f .git; mv .git gone; ln .git name; echo x > name; chmod 777 .git; truncate -s 0 .git',
        `mv ${place.workspace} ${place.root}/moved; mkdir ${place.root}/other; rm -rf ${place.workspace}`,
        'echo finished',
      ].join('\n'),
      { write: true },
    )
    expect(end.output).toBe('finished\n')
    expect(readFileSync(file, 'utf8')).toBe('gitdir: /elsewhere\n')
    expect(lstatSync(file).ino).toBe(ino)
    expect(readdirSync(place.root).sort()).toEqual(['home', 'turn', 'workspace'])
  })

  it('of a submodule is protected with the repository that it names, also against moving either', async () => {
    const inner = repository('modules', 'sub')
    mkdirSync(inWorkspace('deep', 'sub'), { recursive: true })
    writeFileSync(inWorkspace('deep', 'sub', '.git'), 'gitdir: ../../modules/sub/.git\n')
    await withstands('for d in deep deep/sub modules modules/sub; do mv $d moved; rm -rf $d; done', inner)
    expect(readFileSync(inWorkspace('deep', 'sub', '.git'), 'utf8')).toContain('modules/sub')
  })
})

describe('ordinary work', () => {
  it('goes on beside a nested repository and in its directory', async () => {
    const nested = repository('lib', 'nested')
    mkdirSync(inWorkspace('lib', 'plain'))
    const end = await runScript(
      place,
      [
        'set -e',
        'echo new > lib/nested/new; mv lib/nested/new lib/nested/renamed; rm lib/nested/list',
        'mkdir -p lib/nested/src/a; mv lib/nested/src lib/nested/source; rmdir lib/nested/source/a',
        'mv lib/plain lib/simple; touch lib/simple/x; rm -r lib/simple; mkdir lib/again',
        'mkdir top; mv top top2; mv lib/nested/renamed across; cat lib/nested/.git/HEAD',
      ].join('\n'),
      { write: true },
    )
    expect(end.ending, end.stderr.text).toBe('exit 0')
    expect(readdirSync(place.workspace).sort()).toEqual(['across', 'lib', 'top2'])
    expect(readdirSync(inWorkspace('lib')).sort()).toEqual(['again', 'nested'])
    expect(readdirSync(nested).sort()).toEqual(['.git', 'source'])
  })

  it('goes on with as many nested repositories as there may be', async () => {
    for (let at = 0; at < gitMountsMax / 2; at += 1)
      mkdirSync(inWorkspace(`r${at}`, '.git'), { recursive: true })
    const end = await runScript(place, 'echo x > r7/x; mv r7 moved || echo held', { write: true })
    expect(end.output, `${end.ending} ${end.stderr.text}`).toBe('held\n')
  })

  it('makes repositories of its own, which the next turn cannot change', async () => {
    const end = await runScript(place, 'git init -q sub && touch sub/.git/hooks/x', { write: true })
    expect(end.ending, end.stderr.text).toBe('exit 0')
    const next = await runScript(place, 'mv sub moved || touch sub/.git/hooks/y', { write: true })
    expect(next.exit_code).not.toBe(0)
    expect(existsSync(inWorkspace('sub', '.git', 'hooks', 'y'))).toBe(false)
  })
})
