import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SnapshotEntry } from '../../../src/host/snapshot/entry.ts'
import { takeSnapshot } from '../../../src/host/snapshot/take.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'snapshot-')))
})

afterEach(() => {
  rmSync(root, { recursive: true, force: true })
})

const paths = (entries: readonly SnapshotEntry[]): string[] =>
  entries.map((entry) => entry.path.toString('latin1'))

describe('the digest vectors', () => {
  it('of an empty root of mode 0700', async () => {
    chmodSync(root, 0o700)
    const { digest, complete, entries } = await takeSnapshot(root)
    expect(digest).toBe('4943e45b5aec4637e0ffb6fd1d998e03b9fad865d57de1047115a9f70e535779')
    expect(complete).toBe(true)
    expect(paths(entries)).toEqual([''])
  })

  it('of a directory, two files and a link, in order of path components', async () => {
    chmodSync(root, 0o755)
    mkdirSync(join(root, 'a'))
    chmodSync(join(root, 'a'), 0o755)
    writeFileSync(join(root, 'a', 'c'), 'x\n')
    chmodSync(join(root, 'a', 'c'), 0o644)
    writeFileSync(join(root, 'a-b'), '')
    chmodSync(join(root, 'a-b'), 0o600)
    symlinkSync('a/c', join(root, 'ln'))
    const { digest, entries } = await takeSnapshot(root)
    expect(paths(entries)).toEqual(['', 'a', 'a/c', 'a-b', 'ln'])
    expect(digest).toBe('cbd484b5913989f5b320a36c155bd7287079df1a2ed826acaa7c2e9a8ecdad9c')
  })
})

describe('what a snapshot sees', () => {
  it('gives the same digest after a touch, and another after a change of mode', async () => {
    const file = join(root, 'f')
    writeFileSync(file, 'content')
    chmodSync(file, 0o644)
    const before = await takeSnapshot(root)
    utimesSync(file, 1, 1)
    expect((await takeSnapshot(root)).digest).toBe(before.digest)
    chmodSync(file, 0o4755)
    const after = await takeSnapshot(root)
    expect(after.digest).not.toBe(before.digest)
    expect(after.entries.at(-1)?.mode).toBe(0o4755)
  })

  it('keeps names and link targets that are not UTF-8 byte for byte', async () => {
    const name = Buffer.from([0x66, 0xff, 0xfe])
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), name]), 'x')
    symlinkSync(
      Buffer.from([0x80, 0x2f, 0x81]),
      Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x67, 0xc3])]),
    )
    const { entries, complete } = await takeSnapshot(root)
    expect(complete).toBe(true)
    expect(entries[1]?.path).toEqual(name)
    expect(entries[2]?.target).toEqual(Buffer.from([0x80, 0x2f, 0x81]))
  })

  it('enters directories whose names are not UTF-8, and sorts all names as bytes', async () => {
    const odd = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])])
    mkdirSync(odd)
    writeFileSync(Buffer.concat([odd, Buffer.from('/x')]), '')
    mkdirSync(join(root, 'é'))
    writeFileSync(join(root, 'é', '日本'), '')
    writeFileSync(join(root, 'z'), '')
    const { entries, faults } = await takeSnapshot(root)
    expect(faults).toEqual([])
    expect(entries.map((entry) => entry.path)).toEqual(
      ['', 'z', 'é', 'é/日本']
        .map((path) => Buffer.from(path))
        .concat([Buffer.from([0xff]), Buffer.from([0xff, 0x2f, 0x78])]),
    )
  })

  it('records a link to a directory and never enters it', async () => {
    mkdirSync(join(root, 'real'))
    writeFileSync(join(root, 'real', 'inside'), '')
    symlinkSync('real', join(root, 'also'))
    symlinkSync('/etc', join(root, 'etc'))
    expect(paths((await takeSnapshot(root)).entries)).toEqual(['', 'also', 'etc', 'real', 'real/inside'])
  })

  it('records a FIFO and a socket without opening them', async () => {
    execFileSync('/usr/bin/mkfifo', [join(root, 'pipe')])
    const server = createServer()
    await new Promise<void>((resolve) => {
      server.listen(join(root, 'sock'), resolve)
    })
    const { entries, complete } = await takeSnapshot(root)
    server.close()
    expect(complete).toBe(true)
    expect(entries.map((entry) => entry.kind)).toEqual(['directory', 'fifo', 'socket'])
  })

  it('makes its root canonical', async () => {
    mkdirSync(join(root, 'real'))
    symlinkSync('real', join(root, 'link'))
    expect((await takeSnapshot(join(root, 'link'))).root).toBe(join(root, 'real'))
  })

  it('hashes a file over one read as a small one is hashed', async () => {
    const big = Buffer.alloc(3_000_001, 7)
    writeFileSync(join(root, 'big'), big)
    const { entries } = await takeSnapshot(root)
    const expected = createHash('sha256').update(big).digest('hex')
    expect(entries[1]).toMatchObject({ length: 3_000_001, sha256: expected })
  })
})

describe('what a snapshot cannot read', () => {
  it('is a fault, for a root that is missing', async () => {
    const { complete, faults, entries } = await takeSnapshot(join(root, 'missing'))
    expect(complete).toBe(false)
    expect(entries).toEqual([])
    expect(faults).toEqual(['.: cannot be read (ENOENT)'])
  })

  it('is a fault, for a root that is a file', async () => {
    writeFileSync(join(root, 'f'), '')
    expect((await takeSnapshot(join(root, 'f'))).faults).toEqual(['.: cannot be read (ENOTDIR)'])
  })

  it('changes the digest', async () => {
    const whole = await takeSnapshot(root)
    const none = await takeSnapshot(join(root, 'missing'))
    expect(none.digest).not.toBe(whole.digest)
    expect(none.digest).toMatch(/^[0-9a-f]{64}$/)
  })
})

it('ends with the reason of an aborted signal and leaves no descriptor open', async () => {
  for (let index = 0; index < 300; index += 1) writeFileSync(join(root, `f${index}`), '')
  const open = (): number => readdirSync('/proc/self/fd').length
  const before = open()
  await expect(takeSnapshot(root, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
    'enough',
  )
  await takeSnapshot(root)
  expect(open()).toBe(before)
})
