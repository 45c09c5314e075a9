import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../src/store/disk.ts'
import { refused } from '../support/refusals.ts'
import { tempDir } from '../support/temp-dir.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const modeOf = async (path: string) => (await stat(path)).mode & 0o777

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

  it('is synced with every directory above it, even through a link and past one that may not be read', async () => {
    const directory = await tempDir()
    await mkdir(join(directory, 'passage', 'inside'), { recursive: true })
    await symlink(join(directory, 'passage', 'inside'), join(directory, 'link'))
    await chmod(join(directory, 'passage'), 0o311)
    await realDisk.syncAncestors(join(directory, 'link'))
    await chmod(join(directory, 'passage'), 0o700)
    await refused('io', realDisk.syncAncestors(join(directory, 'none')))
  })

  it('is removed with all that is in it, links but not what they lead to, and only when it is private', async () => {
    const directory = await tempDir()
    const [tree, kept] = [join(directory, 'tree'), join(directory, 'kept')]
    await realDisk.makeDirectory(join(tree, 'inside'))
    await mkdir(kept, { mode: 0o755 })
    await writeFile(join(kept, 'file'), '')
    await symlink(kept, join(tree, 'inside', 'link'))
    await realDisk.removeTree(tree)
    await realDisk.removeTree(tree)
    expect(await realDisk.list(directory)).toEqual(['kept'])
    await refused('unsafe_path', realDisk.removeTree(kept))
    expect(await realDisk.list(kept)).toEqual(['file'])
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
