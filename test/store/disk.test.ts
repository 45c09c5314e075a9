import { chmod, link, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../src/store/disk.ts'
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

  it.runIf(process.getuid?.() === 0)('refuses unsafe_path when it belongs to another user', async () => {
    const directory = await tempDir()
    const path = join(directory, 'a')
    await realDisk.create(path, bytes(''))
    await execa('chown', ['65534', path])
    await refused('unsafe_path', realDisk.read(path, 10))
    await execa('chown', ['65534', directory])
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
    await refused('io', realDisk.replace(join(directory, 'a'), bytes('x'), join(directory, '.pending')))
    expect(await realDisk.read(join(directory, 'a'), 10)).toBeNull()
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

describe('a directory', () => {
  it('is made 0700 with what is missing above it, and checked', async () => {
    const root = await tempDir()
    const path = join(root, 'a', 'b')
    await realDisk.makeDirectory(path)
    expect([await modeOf(join(root, 'a')), await modeOf(path)]).toEqual([0o700, 0o700])
    await realDisk.makeDirectory(path)
    await realDisk.checkDirectory(path)
  })

  it('that exists with a wide mode refuses and keeps its mode', async () => {
    const path = join(await tempDir(), 'wide')
    await mkdir(path)
    await chmod(path, 0o755)
    await refused('unsafe_path', realDisk.makeDirectory(path))
    expect(await modeOf(path)).toBe(0o755)
  })

  it('that is a link, even a dangling one, or a file refuses', async () => {
    const directory = await tempDir()
    await mkdir(join(directory, 'real'), { mode: 0o700 })
    await symlink(join(directory, 'real'), join(directory, 'link'))
    await symlink(join(directory, 'nowhere'), join(directory, 'dangling'))
    await writeFile(join(directory, 'file'), '', { mode: 0o600 })
    for (const name of ['link', 'dangling', 'file']) {
      await refused('unsafe_path', realDisk.makeDirectory(join(directory, name)))
      await refused('unsafe_path', realDisk.checkDirectory(join(directory, name)))
    }
    await refused('io', realDisk.checkDirectory(join(directory, 'none')))
  })

  it('lists in byte order, and null when there is none', async () => {
    const directory = await tempDir()
    for (const name of ['b', 'a-b', 'B', '\u{1f600}', '\uffee']) await writeFile(join(directory, name), '')
    expect(await realDisk.list(directory)).toEqual(['B', 'a-b', 'b', '\uffee', '\u{1f600}'])
    expect(await realDisk.list(join(directory, 'none'))).toBeNull()
  })

  it('tells of a replaced file until the watch ends', async () => {
    const directory = await tempDir()
    const seen = new Set<string | null>()
    let told = () => {}
    const first = new Promise<void>((resolve) => {
      told = resolve
    })
    const end = realDisk.watch(directory, (name) => {
      seen.add(name)
      if (name === 'a.json') told()
    })
    await realDisk.replace(join(directory, 'a.json'), bytes('x'))
    await first
    end()
    expect(seen).toContain('a.json')
    await refused('io', () => realDisk.watch(join(directory, 'none'), () => {}))
  })
})
