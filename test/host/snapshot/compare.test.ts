import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareSnapshots } from '../../../src/host/snapshot/compare.ts'
import type { Comparison, Snapshot, SnapshotEntry } from '../../../src/host/snapshot/entry.ts'
import { createRenameCandidates } from '../../../src/host/snapshot/rename-candidates.ts'

const hash = (letter: string): string => letter.repeat(64)

function file(path: string, facts: Partial<SnapshotEntry> = {}): SnapshotEntry {
  const base = {
    kind: 'file',
    mode: 0o644,
    dev: 1n,
    ino: 1n,
    mtimeNs: 5n,
    length: 1,
    sha256: hash('a'),
    target: null,
  } as const
  return { ...base, path: Buffer.from(path), ...facts }
}

function snapshot(...entries: SnapshotEntry[]): Snapshot {
  return { root: '/w', digest: hash('0'), entries, faults: [], complete: true }
}

/** Changes as short words. */
function words(comparison: Comparison): string[] {
  if (comparison.state !== 'changed') return [comparison.state]
  return comparison.changes.map((change) =>
    change.change === 'renamed'
      ? `renamed ${change.from} ${change.to}${change.altered ? ' altered' : ''}`
      : `${change.change} ${change.path}`,
  )
}

describe('two snapshots', () => {
  it('of one unchanged tree are clean', () => {
    expect(compareSnapshots(snapshot(file('a')), snapshot(file('a')))).toEqual({ state: 'clean' })
  })

  it('of different roots, or one of them incomplete, are unverifiable', () => {
    const whole = snapshot(file('a'))
    expect(compareSnapshots(whole, { ...whole, root: '/other' }).state).toBe('unverifiable')
    const broken = { ...whole, complete: false, faults: ['a: gone'] }
    expect(compareSnapshots(broken, whole)).toEqual({
      state: 'unverifiable',
      reason: 'the snapshot before is incomplete: a: gone',
    })
    expect(compareSnapshots(whole, broken).state).toBe('unverifiable')
  })

  it.each([
    ['content', { sha256: hash('b') }],
    ['length', { length: 2 }],
    ['a new time alone', { mtimeNs: 6n }],
    ['mode', { mode: 0o600 }],
    ['a replaced inode', { ino: 2n }],
    ['another device', { dev: 2n }],
  ])('differ by %s: modified', (_name, facts) => {
    expect(words(compareSnapshots(snapshot(file('a')), snapshot(file('a', facts))))).toEqual(['modified a'])
  })

  it('tell a changed link target', () => {
    const link = (target: string): SnapshotEntry =>
      file('l', { kind: 'symlink', sha256: null, target: Buffer.from(target) })
    expect(words(compareSnapshots(snapshot(link('x')), snapshot(link('y'))))).toEqual(['modified l'])
    expect(words(compareSnapshots(snapshot(link('x')), snapshot(link('x'))))).toEqual(['clean'])
  })

  it('tell another kind at the same path: retyped', () => {
    const after = snapshot(file('a', { kind: 'directory', sha256: null }))
    expect(words(compareSnapshots(snapshot(file('a')), after))).toEqual(['retyped a'])
  })

  it('tell a rename, and whether it was altered', () => {
    expect(words(compareSnapshots(snapshot(file('a')), snapshot(file('b'))))).toEqual(['renamed a b'])
    const altered = snapshot(file('b', { sha256: hash('c') }))
    expect(words(compareSnapshots(snapshot(file('a')), altered))).toEqual(['renamed a b altered'])
  })

  it('tell no rename to a path that was there before', () => {
    const before = snapshot(file('a', { ino: 1n }), file('b', { ino: 2n }))
    expect(words(compareSnapshots(before, snapshot(file('b', { ino: 1n }))))).toEqual([
      'removed a',
      'modified b',
    ])
  })

  it('sort by raw bytes of the whole path, a rename by its old one', () => {
    const before = snapshot(file('a/c', { ino: 1n }), file('m', { ino: 2n }), file('z', { ino: 3n }))
    const after = snapshot(file('a-b', { ino: 9n }), file('b', { ino: 3n }), file('m', { ino: 2n, mode: 1 }))
    expect(words(compareSnapshots(before, after))).toEqual([
      'created a-b',
      'removed a/c',
      'modified m',
      'renamed z b',
    ])
  })

  it('keep paths apart that only differ in bytes that are not UTF-8', () => {
    const before = snapshot(file('x', { path: Buffer.from([0xff]) }))
    const after = snapshot(file('x', { path: Buffer.from([0xfe]), ino: 7n }))
    const comparison = compareSnapshots(before, after)
    expect(comparison.state === 'changed' && comparison.changes.map((change) => change.change)).toEqual([
      'created',
      'removed',
    ])
  })
})

describe('hard links', () => {
  it('are paired first with first, the last taking the free place', () => {
    const before = snapshot(file('p'), file('q'))
    const after = snapshot(file('r'), file('s'), file('t'))
    // p takes r, t moves to r's place, so q takes t.
    expect(words(compareSnapshots(before, after))).toEqual(['renamed p r', 'renamed q t', 'created s'])
  })

  it('are paired exactly as a search from the front pairs them', () => {
    const entries = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 30 })
    fc.assert(
      fc.property(entries, entries, (createdIds, removedIds) => {
        const created = createdIds.map((ino, index) => file(`c${index}`, { ino: BigInt(ino) }))
        const removed = removedIds.map((ino, index) => file(`r${index}`, { ino: BigInt(ino) }))
        const slots = [...created]
        const candidates = createRenameCandidates(created)
        for (const entry of removed) {
          const place = slots.findIndex((slot) => slot.ino === entry.ino)
          const expected = place < 0 ? null : (slots[place] ?? null)
          const last = place < 0 ? undefined : slots.pop()
          if (last !== undefined && place < slots.length) slots[place] = last
          expect(candidates.take(entry)).toBe(expected)
        }
        expect(candidates.rest()).toEqual(slots)
      }),
    )
  })
})
