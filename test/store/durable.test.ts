import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/protocol/refusal.ts'
import { realDisk } from '../../src/store/disk.ts'
import { refused } from '../support/refusals.ts'
import { tempDir } from '../support/temp-dir.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const modeOf = async (path: string) => (await stat(path)).mode & 0o777
const textOf = async (path: string) =>
  new TextDecoder().decode((await realDisk.read(path, 1_000)) ?? undefined)

describe('replace', () => {
  it('replaces a stale temporary and leaves none', async () => {
    const directory = await tempDir()
    await writeFile(join(directory, '.a.json.tmp'), 'half', { mode: 0o644 })
    await realDisk.replace(join(directory, 'a.json'), bytes('whole'))
    expect(await readdir(directory)).toEqual(['a.json'])
    expect(await modeOf(join(directory, 'a.json'))).toBe(0o600)
  })

  it('uses the temporary it is given', async () => {
    const directory = await tempDir()
    await mkdir(join(directory, '.pending'))
    const temporary = join(directory, '.pending')
    await refused('io', realDisk.replace(join(directory, 'a'), bytes('x'), { temporary }))
    expect(await realDisk.read(join(directory, 'a'), 10)).toBeNull()
  })

  it('renames only after what was to be done meanwhile', async () => {
    const directory = await tempDir()
    const path = join(directory, 'a')
    await realDisk.replace(path, bytes('old'))
    let before = ''
    await realDisk.replace(path, bytes('new'), {
      meanwhile: async () => {
        before = await textOf(path)
      },
    })
    expect([before, await textOf(path)]).toEqual(['old', 'new'])
  })

  it('leaves the file alone, and no temporary, when what was to be done meanwhile fails', async () => {
    const directory = await tempDir()
    const path = join(directory, 'a')
    await realDisk.replace(path, bytes('old'))
    const failure = new Refusal('limit_exceeded', 'no room')
    const meanwhile = () => Promise.reject(failure)
    await expect(realDisk.replace(path, bytes('new'), { meanwhile })).rejects.toBe(failure)
    expect(await textOf(path)).toBe('old')
    expect(await realDisk.list(directory)).toEqual(['a'])
  })

  it('keeps the old file and leaves no temporary when the rename fails', async () => {
    const directory = await tempDir()
    await mkdir(join(directory, 'a'))
    await writeFile(join(directory, 'a', 'inside'), '')
    await refused('io', realDisk.replace(join(directory, 'a'), bytes('x')))
    expect(await readdir(directory)).toEqual(['a'])
  })

  it('does not follow a link at its target', async () => {
    const directory = await tempDir()
    await writeFile(join(directory, 'outside'), 'kept')
    await symlink(join(directory, 'outside'), join(directory, 'a'))
    await realDisk.replace(join(directory, 'a'), bytes('x'))
    expect(await readFile(join(directory, 'outside'), 'utf8')).toBe('kept')
  })
})

describe('create, rename and remove', () => {
  it('creates once and leaves what is there', async () => {
    const path = join(await tempDir(), 'a')
    expect(await realDisk.create(path, bytes('first'))).toBe(true)
    expect(await realDisk.create(path, bytes('second'))).toBe(false)
    expect(await textOf(path)).toBe('first')
  })

  it('renames, removes, and says when there was nothing to remove', async () => {
    const directory = await tempDir()
    await realDisk.create(join(directory, 'a'), bytes('x'))
    await realDisk.rename(join(directory, 'a'), join(directory, 'b'))
    expect(await realDisk.list(directory)).toEqual(['b'])
    expect(await realDisk.remove(join(directory, 'b'))).toBe(true)
    expect(await realDisk.remove(join(directory, 'b'))).toBe(false)
    await refused('io', realDisk.rename(join(directory, 'a'), join(directory, 'b')))
    await refused('io', realDisk.sync(join(directory, 'a')))
  })

  it('gives an identity that changes with every replacement', async () => {
    const path = join(await tempDir(), 'a')
    expect(await realDisk.identity(path)).toBeNull()
    await realDisk.replace(path, bytes('x'))
    const before = await realDisk.identity(path)
    expect(await realDisk.identity(path)).toEqual(before)
    await realDisk.replace(path, bytes('y'))
    expect(await realDisk.identity(path)).not.toEqual(before)
  })
})

describe('an append file', () => {
  it('grows by whole records, is cut, and is 0600', async () => {
    const path = join(await tempDir(), 'log')
    const file = await realDisk.openAppend(path)
    await file.append(bytes('one\n'))
    await file.append(bytes('two\n'))
    expect(await file.size()).toBe(8)
    await file.truncate(4)
    await file.append(bytes('three\n'))
    await file.close()
    expect(await textOf(path)).toBe('one\nthree\n')
    expect(await modeOf(path)).toBe(0o600)
  })

  it('opens what exists, and refuses io when it must be new', async () => {
    const path = join(await tempDir(), 'log')
    await realDisk.create(path, bytes('one\n'))
    await refused('io', realDisk.openAppend(path, { exclusive: true }))
    const file = await realDisk.openAppend(path)
    await file.append(bytes('two\n'))
    await file.close()
    expect(await textOf(path)).toBe('one\ntwo\n')
  })

  it('cuts a record that did not fit back to where it started', async () => {
    const path = join(await tempDir(), 'log')
    const program = new URL('../fixtures/store/append-past-limit.ts', import.meta.url).pathname
    const { stdout } = await execa('prlimit', [
      '--fsize=8192',
      process.execPath,
      '--import',
      'tsx',
      program,
      path,
    ])
    expect(stdout).toBe('io')
    expect((await stat(path)).size).toBe(4_096)
  })
})
