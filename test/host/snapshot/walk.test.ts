import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLedger, type Ledger } from '../../../src/host/snapshot/ledger.ts'
import { walkTree } from '../../../src/host/snapshot/walk.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'walk-')))
})

afterEach(() => {
  execFileSync('rm', ['-rf', root])
})

/** Walks to the end, calling `between` after each step. */
function walk(ledger: Ledger, between: (steps: number) => void = () => {}): Ledger {
  let steps = 0
  for (const _ of walkTree(root, ledger)) {
    steps += 1
    between(steps)
  }
  return ledger
}

describe('limits', () => {
  it('stop the walk at one entry too many, the root counted', () => {
    for (const name of ['a', 'b', 'c']) writeFileSync(join(root, name), '')
    const at = walk(createLedger({ entries: 4, bytes: 100, faults: 4 }))
    expect([at.entries.length, at.faults]).toEqual([4, []])
    const over = walk(createLedger({ entries: 3, bytes: 100, faults: 4 }))
    expect([over.entries.length, over.faults]).toEqual([3, ['more than 3 entries']])
  })

  it('stop the walk at one byte of content too many', () => {
    writeFileSync(join(root, 'a'), '12345')
    writeFileSync(join(root, 'b'), '12345')
    expect(walk(createLedger({ entries: 9, bytes: 10, faults: 4 })).faults).toEqual([])
    const over = walk(createLedger({ entries: 9, bytes: 9, faults: 4 }))
    expect(over.faults).toEqual(['more than 9 bytes of file content'])
  })

  it('itemise only so many faults', () => {
    for (let index = 0; index < 10; index += 1) writeFileSync(join(root, `f${index}`), 'x')
    const ledger = createLedger({ entries: 99, bytes: 99, faults: 3 })
    walk(ledger, (steps) => {
      if (steps === 1) for (let index = 1; index < 10; index += 1) rmSync(join(root, `f${index}`))
    })
    expect(ledger.faults.length).toBe(3)
  })
})

describe('a tree that changes while it is read', () => {
  it('is a fault where a file vanished', () => {
    for (const name of ['a', 'b']) writeFileSync(join(root, name), '')
    const ledger = walk(createLedger(), (steps) => {
      if (steps === 1) rmSync(join(root, 'b'))
    })
    expect(ledger.faults).toEqual(['b: cannot be read (ENOENT)'])
  })

  it('is a fault where a file became a link', () => {
    for (const name of ['a', 'b']) writeFileSync(join(root, name), '')
    const ledger = walk(createLedger(), (steps) => {
      if (steps !== 1) return
      rmSync(join(root, 'b'))
      symlinkSync('/etc/passwd', join(root, 'b'))
    })
    expect(ledger.faults).toEqual(['b: cannot be read (ELOOP)'])
  })

  it('is a fault where a file became a FIFO, which is not waited for', () => {
    for (const name of ['a', 'b']) writeFileSync(join(root, name), '')
    const ledger = walk(createLedger(), (steps) => {
      if (steps !== 1) return
      rmSync(join(root, 'b'))
      execFileSync('/usr/bin/mkfifo', [join(root, 'b')])
    })
    expect(ledger.faults).toEqual(['b: changed its kind while it was read'])
  })

  it('is a fault where a directory became a link to another', () => {
    writeFileSync(join(root, 'a'), '')
    mkdirSync(join(root, 'b'))
    const ledger = walk(createLedger(), (steps) => {
      if (steps !== 1) return
      rmSync(join(root, 'b'), { recursive: true })
      symlinkSync('/etc', join(root, 'b'))
    })
    expect(ledger.faults).toHaveLength(1)
    expect(ledger.entries).toHaveLength(2)
  })

  it('is a fault where a file grew between two reads', () => {
    writeFileSync(join(root, 'a'), Buffer.alloc(3_000_000))
    const ledger = walk(createLedger(), (steps) => {
      if (steps === 1) appendFileSync(join(root, 'a'), 'more')
    })
    expect(ledger.faults).toEqual(['a: changed while it was read'])
  })
})

describe('descriptors', () => {
  it('stay bounded in a deep tree, which is read to its end', () => {
    const depth = 300
    let at = root
    for (let level = 0; level < depth; level += 1) {
      at = join(at, 'd')
      mkdirSync(at)
      writeFileSync(join(at, 'f'), '')
      writeFileSync(join(at, 'a'), '')
    }
    const ledger = walk(createLedger())
    expect(ledger.faults).toEqual([])
    expect(ledger.entries).toHaveLength(1 + 3 * depth)
  })

  it('never lead into a directory that was moved away', () => {
    const outside = `${root}-moved`
    let at = root
    for (let level = 0; level < 80; level += 1) {
      at = join(at, 'd')
      mkdirSync(at)
      writeFileSync(join(at, 'z'), '')
    }
    const ledger = walk(createLedger(), (steps) => {
      if (steps !== 75) return
      // Its parent is by now 70 levels up, and its descriptor closed.
      mkdirSync(outside)
      renameSync(join(root, 'd', 'd'), join(outside, 'd'))
    })
    execFileSync('rm', ['-rf', outside])
    expect(ledger.faults).toEqual(['d: was moved while it was read'])
  })

  it('are few enough for a limit of 256 and 700 sibling directories', () => {
    for (let index = 0; index < 700; index += 1) {
      mkdirSync(join(root, `dir${index}`))
      writeFileSync(join(root, `dir${index}`, 'f'), '')
    }
    const program = fileURLToPath(new URL('../../fixtures/snapshot-of.ts', import.meta.url))
    const tsx = fileURLToPath(new URL('../../../node_modules/tsx/dist/cli.mjs', import.meta.url))
    const script = 'ulimit -n 256 && exec "$0" "$@"'
    const text = execFileSync('/bin/sh', ['-c', script, process.execPath, tsx, program, root]).toString()
    expect(JSON.parse(text)).toEqual({ entries: 1401, faults: [] })
  })
})
