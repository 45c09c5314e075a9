import { describe, expect, it } from 'vitest'
import { checkEdit, makeRoom } from '../../src/commands/journal-bounds.ts'
import type { CommandKind, Entry, EntryState, Sender } from '../../src/commands/journal-entry.ts'
import { createRows, type Rows } from '../../src/commands/journal-rows.ts'
import { openDesk, owner, phone, tablet } from '../support/command-desk.ts'
import { refused } from '../support/refusals.ts'

const applied: EntryState = { state: 'done', outcome: 'applied', revision: 2 }
const rejected: EntryState = { state: 'done', outcome: 'rejected', reason: 'conflict' }
const held: EntryState = { state: 'held', priority: false }
const kib = 1_024

describe('what one device may have undecided', () => {
  it('is 256 commands: the next is rate_limited, of other devices and the owner not', async () => {
    const rows = filled(256, { sender: phone, state: held })
    await refused('rate_limited', () => makeRoom(rows, entry({ sender: phone })))
    makeRoom(rows, entry({ sender: tablet }))
    makeRoom(rows, entry({ sender: owner }))
  })

  it('counts only what is undecided', () => {
    const rows = filled(300, { sender: phone, state: rejected })
    makeRoom(rows, entry({ sender: phone }))
    const [row] = rows.all()
    expect(rows.load(phone.device).commands).toBe(0)
    expect(row?.entry.state).toEqual(rejected)
  })

  it('leaves 16 more places for interrupts, so that a full queue can be stopped', async () => {
    const rows = filled(256, { sender: phone, state: held })
    for (let index = 0; index < 16; index += 1) {
      const interrupt = entry({ sender: phone, kind: 'interrupt' })
      makeRoom(rows, interrupt)
      rows.append(interrupt, 1)
    }
    await refused('rate_limited', () => makeRoom(rows, entry({ sender: phone, kind: 'interrupt' })))
  })

  it('is 8 MiB of text, counting edits', async () => {
    const rows = filled(255, {
      sender: phone,
      state: held,
      text: 'x'.repeat(16 * kib),
      edited: 'y'.repeat(32 * kib),
    })
    await refused('rate_limited', () =>
      makeRoom(rows, entry({ sender: phone, text: 'x'.repeat(32 * kib + 1) })),
    )
    const [row] = rows.all()
    if (row === undefined) throw new Error('no rows')
    const longer = 'z'.repeat(64 * kib + 1)
    await refused('rate_limited', () => checkEdit(rows, row.entry, { ...row.entry, edited: longer }, longer))
    rows.replace(row, { ...row.entry, state: { state: 'done', outcome: 'cancelled' } })
    makeRoom(rows, entry({ sender: phone, text: 'x'.repeat(32 * kib) }))
  })

  it('is refused over the whole path, and nothing is recorded', async () => {
    const tasks = ['task-1', 'task-2', 'task-3', 'task-4', 'task-5']
    const desk = await openDesk(...tasks)
    const sent = Array.from({ length: 256 }, (_, index) =>
      desk.commands.record(phone, desk.mint(tasks[index % 5] ?? '', 'queue')),
    )
    await Promise.all(sent)
    await refused('rate_limited', desk.commands.record(phone, desk.mint('task-5', 'queue')))
    expect(desk.commands.entries()).toHaveLength(256)
    expect(await desk.commands.record(tablet, desk.mint('task-5', 'queue'))).toEqual(held)
  })
})

describe('a full journal', () => {
  it('drops its oldest applied entry, never an undecided or a rejected one', () => {
    const rows = filled(4_095, { sender: owner, state: held })
    const oldest = rows.append(entry({ sender: phone, state: applied }), 1)
    const room = entry({ sender: tablet, kind: 'interrupt' })
    expect(() => makeRoom(rows, room)).toThrow()
    rows.drop((row) => rows.all().indexOf(row) < 1_000)
    for (let index = 0; index < 1_000; index += 1) rows.append(entry({ sender: tablet, state: applied }), 1)
    makeRoom(rows, room)
    expect(rows.all()).toHaveLength(4_095)
    expect(rows.all()).not.toContain(oldest)
    expect(rows.find(phone.device, oldest.entry.request.command)).toBeUndefined()
  })

  it('without applied entries refuses as bounds', async () => {
    const rows = filled(4_096, { sender: owner, state: rejected })
    await refused('bounds', () => makeRoom(rows, entry({ sender: owner })))
  })

  it('keeps a tenth of its entries for the owner', async () => {
    const rows = filled(3_686, { sender: owner, state: rejected })
    await refused('bounds', () => makeRoom(rows, entry({ sender: phone })))
    makeRoom(rows, entry({ sender: owner }))
  })

  it('keeps a tenth of its 32 MiB for the owner, and room for what its undecided commands may grow to', async () => {
    const text = '"'.repeat(16 * kib)
    const rows = createRows()
    let sender = 0
    const fill = (from: (index: number) => Sender) => {
      for (;;) {
        sender += 1
        const next = entry({ sender: from(sender), text })
        makeRoom(rows, next)
        rows.append(next, 1)
      }
    }
    await refused('bounds', () =>
      fill((index) => ({ ...phone, device: index.toString(16).padStart(64, '0') })),
    )
    const byDevices = rows.weight()
    await refused('bounds', () => fill(() => owner))
    expect(byDevices / rows.weight()).toBeCloseTo(0.9, 1)
    for (const row of rows.all()) {
      const bytes = JSON.stringify({ prompt: text, padding: 'p'.repeat(400) })
      rows.replace(row, { ...row.entry, state: { state: 'dispatching', bytes, then_hold: false } })
    }
    expect(rows.bytes()).toBeLessThan(32 * kib * kib)
  })
})

describe('pruning', () => {
  it('drops decided entries 48 hours after they were received, and leaves undecided ones to expire', async () => {
    const desk = await openDesk('task-1')
    await desk.commands.record(phone, desk.mint('task-1', 'interrupt', 'Stop'))
    await desk.commands.record(phone, desk.mint('task-1', 'steer', 'x', { emulate: true, based_on: 9 }))
    desk.clock.jump(172_800_000)
    await desk.commands.record(phone, desk.mint('task-1', 'queue', 'One.'))
    expect(desk.commands.entries()).toHaveLength(3)
    desk.clock.jump(1_000)
    await desk.commands.record(phone, desk.mint('task-1', 'queue', 'Two.'))
    expect(desk.commands.entries().map((one) => one.request.text)).toEqual(['One.', 'Two.'])
  })

  it('of a command that comes again lets nothing run twice', async () => {
    const desk = await openDesk('task-1')
    const request = desk.mint('task-1', 'interrupt', 'Stop')
    await desk.commands.record(phone, request)
    desk.clock.jump(172_801_000)
    await desk.commands.record(tablet, desk.mint('task-1', 'queue', 'One.'))
    const state = await desk.commands.record(phone, request)
    expect(state).toEqual({ state: 'done', outcome: 'expired' })
  })
})

let minted = 0

function entry(of: {
  sender: Sender
  kind?: CommandKind
  state?: EntryState
  text?: string
  edited?: string
}): Entry {
  minted += 1
  const { sender, kind = 'queue', state = { state: 'received' }, text = 'x', ...rest } = of
  const command = minted.toString(16).padStart(64, '0')
  return {
    sender,
    request: { command, task: 'task-1', kind, based_on: 1, text, emulate: false, issued_at: 5 },
    received_at: 5,
    state,
    ...rest,
  }
}

function filled(count: number, of: Parameters<typeof entry>[0]): Rows {
  const rows = createRows()
  for (let index = 0; index < count; index += 1) rows.append(entry(of), 1)
  return rows
}
