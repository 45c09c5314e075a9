import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idTable } from '../../src/bridge/id-table.ts'
import { createSeenEvents } from '../../src/bridge/seen-events.ts'
import { sha256Hex } from '../../src/protocol/digest.ts'

const idOf = (name: number | string) => sha256Hex(String(name))

describe('a table of IDs', () => {
  it('holds what a map holds, IDs that begin alike included', () => {
    const ids = fc.oneof(
      fc.integer({ min: 0, max: 40 }).map(idOf),
      // The same first word, so that all want one place.
      fc.integer({ min: 0, max: 20 }).map((name) => `0000000a${idOf(name).slice(8)}`),
      // And at the end of the table.
      fc.integer({ min: 0, max: 20 }).map((name) => `ffffffff${idOf(name).slice(8)}`),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(ids, fc.nat(4_294_967_294)), { maxLength: 80 }), (writes) => {
        const table = idTable(90)
        const map = new Map<string, number>()
        for (const [id, value] of writes) {
          table.set(id, value)
          map.set(id, value)
        }
        for (const [id, value] of map) expect(table.get(id)).toBe(value)
        for (let name = 100; name < 120; name += 1) expect(table.get(idOf(name))).toBeUndefined()
        expect(table.size()).toBe(map.size)
      }),
    )
  })

  it('tells two IDs apart that differ in the last bit of their first half', () => {
    const table = idTable(4)
    table.set(`${'a'.repeat(31)}0${'0'.repeat(32)}`, 1)
    expect(table.get(`${'a'.repeat(31)}1${'0'.repeat(32)}`)).toBeUndefined()
  })

  it('is empty once cleared, and takes as many again', () => {
    const table = idTable(4)
    for (let round = 0; round < 3; round += 1) {
      for (let name = 0; name < 4; name += 1) table.set(idOf(`${round} ${name}`), name)
      expect(() => table.set(idOf('one more'), 1)).toThrow()
      table.clear()
      expect(table.get(idOf(`${round} 0`))).toBeUndefined()
    }
  })
})

describe('the seen events', () => {
  it('are new until remembered, again on the connection that brought them last, else overlap', () => {
    const seen = createSeenEvents(8)
    expect(seen.sight(idOf('a'), 1)).toBe('new')
    expect(seen.sight(idOf('a'), 1)).toBe('new')
    seen.remember(idOf('a'), 1)
    expect(seen.sight(idOf('a'), 1)).toBe('again')
    expect(seen.sight(idOf('a'), 2)).toBe('overlap')
    expect(seen.sight(idOf('a'), 1)).toBe('overlap')
    expect(seen.sight(idOf('a'), 2)).toBe('again')
  })

  it('are at least the last half of the bound, and never more than the bound', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 200 }), (names) => {
        const seen = createSeenEvents(16)
        const latest: number[] = []
        for (const name of names) {
          seen.remember(idOf(name), 1)
          if (latest.includes(name)) latest.splice(latest.indexOf(name), 1)
          latest.push(name)
          expect(seen.size()).toBeLessThanOrEqual(16)
        }
        for (const name of latest.slice(-8)) expect(seen.sight(idOf(name), 1)).toBe('again')
      }),
    )
  })
})
