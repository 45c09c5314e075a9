import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  commandKinds,
  type Entry,
  type EntryState,
  type Lease,
  rejectReasons,
} from '../../src/commands/journal-entry.ts'
import { createAssembler, encodeEntry, parseJournal } from '../../src/commands/journal-file.ts'
import { wireResult } from '../../src/commands/wire-result.ts'
import '../support/fuzz.ts'
import { refused } from '../support/refusals.ts'

const hex = fc
  .array(fc.constantFrom(...'0123456789abcdef'), { minLength: 64, maxLength: 64 })
  .map((digits) => digits.join(''))
const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const count = fc.nat()

const state: fc.Arbitrary<EntryState> = fc.oneof(
  fc.constant<EntryState>({ state: 'received' }),
  fc.boolean().map((priority): EntryState => ({ state: 'held', priority })),
  fc
    .tuple(text, fc.boolean())
    .map(([bytes, then_hold]): EntryState => ({ state: 'dispatching', bytes, then_hold })),
  count.map((revision): EntryState => ({ state: 'done', outcome: 'applied', revision })),
  fc
    .constantFrom(...rejectReasons)
    .map((reason): EntryState => ({ state: 'done', outcome: 'rejected', reason })),
  fc
    .constantFrom('expired' as const, 'superseded' as const, 'cancelled' as const)
    .map((outcome): EntryState => ({ state: 'done', outcome })),
)

const entry: fc.Arbitrary<Entry> = fc.record(
  {
    sender: fc.record({ device: hex, grant: fc.option(hex), epoch: fc.option(count) }),
    request: fc.record({
      command: hex,
      task: hex,
      kind: fc.constantFrom(...commandKinds),
      based_on: count,
      text,
      emulate: fc.boolean(),
      issued_at: count,
    }),
    received_at: count,
    state,
    edited: text,
    promoted: fc.constant(true as const),
  },
  { requiredKeys: ['sender', 'request', 'received_at', 'state'] },
)

describe('commands.json', () => {
  it('reads back every entry and lease as it was written, byte for byte once more', () => {
    const key = (of: Entry) => `${of.sender.device}:${of.request.command}`
    const leases = fc.uniqueArray(fc.record<Lease>({ task: hex, device: hex, expires_at: count }), {
      selector: (lease) => lease.task,
      maxLength: 3,
    })
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: key, maxLength: 6 }), leases, (entries, held) => {
        const bytes = assembled(entries, held)
        const parsed = parseJournal(bytes)
        expect(parsed).toEqual({ entries, leases: held })
        expect(assembled(parsed.entries, parsed.leases)).toEqual(bytes)
      }),
    )
  })

  it('is written in the order that the page names', () => {
    const bytes = assembled([plain], [{ task: 'task-1', device: 'd'.repeat(64), expires_at: 7 }])
    expect(bytes.toString()).toBe(
      `{"schema":"openagents.coder.device-commands.v1","entries":[{"sender":{"device":"${'d'.repeat(64)}",` +
        `"grant":null,"epoch":null},"request":{"command":"${'c'.repeat(64)}","task":"task-1","kind":"queue",` +
        '"based_on":1,"text":"x","emulate":false,"issued_at":5},"received_at":6,' +
        '"state":{"state":"held","priority":false}}],' +
        `"leases":[{"task":"task-1","device":"${'d'.repeat(64)}","expires_at":7}]}`,
    )
  })

  it('is put together the same from scratch and from what was there before', () => {
    const change = fc.record({
      at: fc.nat(8),
      with: entry,
      kind: fc.constantFrom('put', 'push', 'pop', 'swap'),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        const assemble = createAssembler()
        const rows: { bytes: Buffer }[] = []
        for (const { at, with: next, kind } of changes) {
          const made = { bytes: encodeEntry(next) }
          if (kind === 'push') rows.push(made)
          else if (kind === 'pop') rows.splice(at, 1)
          else if (kind === 'swap') rows.splice(0, rows.length, ...rows.slice(at), ...rows.slice(0, at))
          else if (at < rows.length) rows[at] = made
          expect(assemble(rows, [leased])).toEqual(createAssembler()(rows, [leased]))
        }
      }),
    )
  })

  it('is put together the same while the oldest entry goes for each that comes', () => {
    const assemble = createAssembler()
    const rows: { bytes: Buffer }[] = []
    for (let count = 0; count < 200; count += 1) {
      const request = { ...plain.request, text: 'x'.repeat(1 + (count % 90)) }
      rows.push({ bytes: encodeEntry({ ...plain, request }) })
      if (rows.length > 6) rows.splice(count % 10 === 0 ? 2 : 0, 1)
      expect(assemble(rows, [leased])).toEqual(createAssembler()(rows, [leased]))
    }
  })

  const whole = () => JSON.parse(assembled([plain], []).toString())
  const spoilt: [string, () => string][] = [
    ['an empty file', () => ''],
    ['half a file', () => JSON.stringify(whole()).slice(0, -2)],
    ['bytes after the value', () => `${JSON.stringify(whole())}x`],
    ['another schema', () => JSON.stringify({ ...whole(), schema: 'openagents.coder.device-commands.v2' })],
    ['a field of its own', () => JSON.stringify({ ...whole(), note: 1 })],
    [
      'an entry without its sender',
      () => JSON.stringify({ ...whole(), entries: [{ ...plain, sender: undefined }] }),
    ],
    [
      'a state of its own',
      () => JSON.stringify({ ...whole(), entries: [{ ...plain, state: { state: 'lost' } }] }),
    ],
    [
      'a reason of its own',
      () =>
        JSON.stringify({
          ...whole(),
          entries: [{ ...plain, state: { state: 'done', outcome: 'rejected', reason: 'mood' } }],
        }),
    ],
    ['a command twice', () => JSON.stringify({ ...whole(), entries: [plain, plain] })],
    ['two leases of a task', () => JSON.stringify({ ...whole(), leases: [leased, leased] })],
    ['a key twice', () => JSON.stringify(whole()).replace('"leases":[]', '"leases":[],"leases":[]')],
    ['a number with a fraction', () => JSON.stringify(whole()).replace('"based_on":1', '"based_on":1.0')],
  ]
  for (const [what, bytes] of spoilt) {
    it(`with ${what} is refused as unavailable`, async () => {
      const refusal = await refused('unavailable', () => parseJournal(Buffer.from(bytes())))
      expect(refusal.message).not.toContain(plain.request.command)
    })
  }
})

describe('the answer on the wire', () => {
  const dispatched = { ok: true }
  const code = (word: string) => ({ ok: false, code: word })
  const done = (outcome: 'expired' | 'superseded' | 'cancelled'): EntryState => ({ state: 'done', outcome })

  it('is dispatched while a command waits, when it was applied, and when it was taken back', () => {
    expect(wireResult({ state: 'received' })).toEqual(dispatched)
    expect(wireResult({ state: 'held', priority: true })).toEqual(dispatched)
    expect(wireResult({ state: 'dispatching', bytes: '{}', then_hold: false })).toEqual(dispatched)
    expect(wireResult({ state: 'done', outcome: 'applied', revision: 2 })).toEqual(dispatched)
    expect(wireResult(done('cancelled'))).toEqual(dispatched)
  })

  it('is otherwise the code of its refusal', () => {
    expect(wireResult(done('expired'))).toEqual(code('expired'))
    expect(wireResult(done('superseded'))).toEqual(code('stale'))
    for (const reason of rejectReasons) {
      const word = reason === 'missing' ? 'forbidden' : reason
      expect(wireResult({ state: 'done', outcome: 'rejected', reason })).toEqual(code(word))
    }
  })
})

const leased: Lease = { task: 'task-1', device: 'd'.repeat(64), expires_at: 7 }
const plain: Entry = {
  sender: { device: 'd'.repeat(64), grant: null, epoch: null },
  request: {
    command: 'c'.repeat(64),
    task: 'task-1',
    kind: 'queue',
    based_on: 1,
    text: 'x',
    emulate: false,
    issued_at: 5,
  },
  received_at: 6,
  state: { state: 'held', priority: false },
}

function assembled(entries: readonly Entry[], leases: readonly Lease[]): Buffer {
  return createAssembler()(
    entries.map((one) => ({ bytes: encodeEntry(one) })),
    leases,
  )
}
