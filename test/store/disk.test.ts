import { lstatSync, statSync } from 'node:fs'
import { chmod, chown, link, mkdir, rename, stat, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../src/store/disk.ts'
import { fileFault } from '../../src/store/private-file.ts'
import { refused } from '../support/refusals.ts'
import { tempDir } from '../support/temp-dir.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const modeOf = async (path: string) => (await stat(path)).mode & 0o777
const textOf = async (path: string) =>
  new TextDecoder().decode((await realDisk.read(path, 1_000)) ?? undefined)

describe('a private file', () => {
  it('is written 0600 and read back whole', async () => {
    const path = join(await tempDir(), 'a.json')
    await realDisk.replace(path, bytes('one'))
    await realDisk.replace(path, bytes('two'))
    expect(await textOf(path)).toBe('two')
    expect(await modeOf(path)).toBe(0o600)
  })

  it('reads as null when there is none', async () => {
    expect(await realDisk.read(join(await tempDir(), 'none'), 10)).toBeNull()
  })

  it('refuses limit_exceeded past its bound and not at it', async () => {
    const path = join(await tempDir(), 'a')
    await realDisk.create(path, bytes('12345'))
    expect((await realDisk.read(path, 5))?.length).toBe(5)
    await refused('limit_exceeded', realDisk.read(path, 4))
  })

  it('reads a large file whole', async () => {
    const path = join(await tempDir(), 'large')
    const large = new Uint8Array(300_000).map((_, place) => place % 251)
    await realDisk.replace(path, large)
    expect(await realDisk.read(path, 1_000_000)).toEqual(large)
  })

  it('is replaced piece by piece, each asked for once the one before it is in the file', async () => {
    const folder = await tempDir()
    const seen: number[] = []
    function* pieces() {
      for (const piece of ['one ', 'two ', 'three']) {
        seen.push(statSync(join(folder, '.a.tmp')).size)
        yield bytes(piece)
      }
    }
    await realDisk.replace(join(folder, 'a'), pieces())
    expect([seen, await textOf(join(folder, 'a'))]).toEqual([[0, 4, 8], 'one two three'])
  })

  it('stays as it was when a piece of what would replace it cannot be made', async () => {
    const folder = await tempDir()
    await realDisk.replace(join(folder, 'a'), bytes('old'))
    function* pieces() {
      yield bytes('new')
      throw new Error('no more')
    }
    await expect(realDisk.replace(join(folder, 'a'), pieces())).rejects.toThrow('no more')
    expect([await textOf(join(folder, 'a')), await realDisk.list(folder)]).toEqual(['old', ['a']])
  })

  const unsafe: [string, (path: string, directory: string) => Promise<unknown>][] = [
    ['a wide mode', (path) => chmod(path, 0o640)],
    ['a second hard link', (path, directory) => link(path, join(directory, 'other'))],
    [
      'a symbolic link',
      async (path, directory) => {
        await rename(path, join(directory, 'real'))
        await symlink(join(directory, 'real'), path)
      },
    ],
    [
      'a directory',
      async (path, directory) => {
        await rename(path, join(directory, 'real'))
        await mkdir(path, { mode: 0o700 })
      },
    ],
    [
      'a fifo',
      async (path, directory) => {
        await rename(path, join(directory, 'real'))
        await execa('mkfifo', ['-m', '600', path])
      },
    ],
    [
      'a socket',
      async (path, directory) => {
        await rename(path, join(directory, 'real'))
        const server = createServer()
        await new Promise<void>((resolve) => server.listen(path, resolve))
        server.unref()
      },
    ],
  ]
  it.each(unsafe)('refuses unsafe_path when it is or has %s', async (_name, damage) => {
    const directory = await tempDir()
    const path = join(directory, 'a.lock')
    await realDisk.create(path, bytes(''))
    await damage(path, directory)
    await refused('unsafe_path', realDisk.read(path, 10))
    await refused('unsafe_path', realDisk.openAppend(path))
    await refused('unsafe_path', realDisk.sync(path))
    await refused('unsafe_path', realDisk.lock(path, 0))
  })

  it('refuses unsafe_path when it belongs to another user', async () => {
    const directory = await tempDir()
    const path = join(directory, 'a')
    await realDisk.create(path, bytes(''))
    const stats = lstatSync(path, { bigint: true })
    expect(fileFault(stats)).toBeNull()
    expect(fileFault(Object.assign(stats, { uid: stats.uid + 1n }))).toBe('belongs to another user')
    // Only root can give a file away; as root the same is seen through the door.
    if (process.getuid?.() !== 0) return
    await chown(path, 65_534, 65_534)
    await refused('unsafe_path', realDisk.read(path, 10))
    await chown(directory, 65_534, 65_534)
    await refused('unsafe_path', realDisk.checkDirectory(directory))
  })

  it('is read whole by a reader in a tight loop beside a writer', async () => {
    const path = join(await tempDir(), 'a')
    const versions = ['a', 'b'].map((letter) => bytes(letter.repeat(5_000)))
    let writing = true
    const write = async () => {
      for (let round = 0; round < 100; round += 1)
        await realDisk.replace(path, versions[round % 2] ?? bytes(''))
      writing = false
    }
    await realDisk.replace(path, versions[0] ?? bytes(''))
    const writer = write()
    while (writing) {
      const seen = new TextDecoder().decode((await realDisk.read(path, 5_000)) ?? undefined)
      expect(new Set(seen).size).toBe(1)
      expect(seen.length).toBe(5_000)
    }
    await writer
  })
})
