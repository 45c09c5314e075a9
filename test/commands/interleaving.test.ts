import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CommandKind, type Entry, type EntryState, entryKey } from '../../src/commands/journal-entry.ts'
import { sha256Hex } from '../../src/protocol/digest.ts'
import { phone, tablet } from '../support/command-desk.ts'
import { openWorld, type Sent, type World } from '../support/command-world.ts'
import '../support/fuzz.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import type { Fate } from '../support/simulated-disk.ts'

const devices = [phone, tablet] as const

type Step =
  | { do: 'send'; device: number; kind: CommandKind; emulate: boolean }
  | { do: 'replay' | 'edit' | 'remove' | 'send_now'; index: number }
  | { do: 'lease' | 'release' | 'reorder'; device: number }
  | { do: 'begin' | 'end' | 'settle' | 'revoke' }
  | { do: 'crash'; after: number }
  | { do: 'fail'; at: number; fate: Fate }

const device = fc.nat(1)
const index = fc.nat(12)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      device,
      kind: fc.constantFrom<CommandKind>('queue', 'queue', 'queue', 'send', 'steer', 'interrupt', 'answer'),
      emulate: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replay' as const), index }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('edit' as const, 'remove' as const, 'send_now' as const),
      index,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('lease' as const, 'release' as const, 'reorder' as const),
      device,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('begin' as const, 'end' as const, 'settle' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), after: fc.nat(40) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      at: fc.nat(3),
      fate: fc.constantFrom<Fate>('failed', 'doubtful'),
    }),
  },
)

describe('any interleaving of commands, edits, turns, crashes and failing disks', () => {
  it('gives each command one effect at most, loses nothing, and never takes back what it said', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1 }),
        fc.boolean(),
        fc.array(step, { minLength: 4, maxLength: 30 }),
        async (seed, emulates, steps) => {
          const world = await openWorld(seed)
          world.emulates = emulates
          let edits = 0
          for (const one of steps) {
            edits += 1
            await take(world, one, edits)
            world.journal()
          }
          await world.rest()
          check(
            world,
            steps.some((one) => one.do === 'reorder'),
          )
        },
      ),
      { numRuns: fuzzRuns(400) },
    )
  }, 600_000)
})

async function take(world: World, one: Step, serial: number): Promise<void> {
  switch (one.do) {
    case 'send':
      return world.send(deviceOf(one.device), {
        kind: one.kind,
        emulate: one.kind === 'steer' && one.emulate,
      })
    case 'replay':
      return world.replay(one.index)
    case 'edit':
    case 'remove':
    case 'send_now': {
      const sent = world.sent[one.index]
      if (sent === undefined) return
      const { command } = sent.request
      const edit =
        one.do === 'edit' ? { action: one.do, command, text: `edit ${serial}` } : { action: one.do, command }
      return world.edit(sent.sender, edit, one.index)
    }
    case 'lease':
    case 'release':
      return world.edit(deviceOf(one.device), { action: one.do })
    case 'reorder': {
      const held = world.journal().entries.filter((entry) => entry.state.state === 'held' && !entry.promoted)
      const commands = held.map((entry) => entry.request.command).reverse()
      return world.edit(deviceOf(one.device), { action: 'reorder', commands })
    }
    case 'begin':
      return world.begin()
    case 'end':
      return world.end()
    case 'settle':
      return await world.settle()
    case 'revoke':
      return world.revoke(tablet)
    case 'crash':
      return await world.crash(one.after)
    case 'fail':
      return await failOnce(world, one.at, one.fate)
  }
}

/** Lets one of the next changes fail, and starts anew once all is over: the store asks to be opened again. */
async function failOnce(world: World, at: number, fate: Fate): Promise<void> {
  let left = at
  world.machine.fate = () => {
    left -= 1
    return left === -1 ? fate : 'done'
  }
  world.replay(0)
  await world.settle()
  await world.crash(0)
}

function check(world: World, reordered: boolean): void {
  const entries = new Map(
    world.journal().entries.map((entry) => [entryKey(entry.sender.device, entry.request.command), entry]),
  )
  const prompts = world.stored().task.follow_ups?.map((followUp) => followUp.prompt) ?? []
  const corrections = world.stored().task.corrections?.map((correction) => correction.prompt) ?? []
  const texts = [...prompts, ...corrections]
  expect(new Set(texts).size, 'a text had two effects').toBe(texts.length)
  for (const sent of world.sent) {
    const entry = entries.get(entryKey(sent.sender.device, sent.request.command))
    if (entry === undefined) expect(sent.told, 'acknowledged and lost').toEqual([])
    else checkEntry(world, sent, entry, texts)
  }
  if (!reordered) checkOrder(world, [...entries.values()], prompts)
  checkInterrupts(world)
}

function checkEntry(world: World, sent: Sent, entry: Entry, texts: readonly string[]): void {
  const { state } = entry
  if (state.state !== 'done') throw new Error(`at rest a ${sent.request.kind} is ${state.state}`)
  for (const told of sent.told) if (told.state === 'done') expect(state, 'taken back').toEqual(told)
  if (sent.removed) expect(state.outcome).toBe('cancelled')
  const own = [sent.request.text, ...sent.edits.map((edit) => edit.text)]
  const ran = texts.filter((text) => own.includes(text))
  expect(ran.length, `${sent.request.kind} ${state.outcome}`).toBe(expectedRuns(sent, state))
  const mayBeRevoked = world.revoked.has(sent.sender.device)
  if (sent.request.kind === 'queue' && !sent.promoted && !mayBeRevoked && state.outcome !== 'cancelled') {
    expect(state.outcome, 'a queued message was lost').toBe('applied')
  }
  // What was acknowledged last runs, or something asked for after it.
  const lastKept = sent.edits.findLastIndex((edit) => edit.acknowledged)
  const possible = sent.edits.slice(Math.max(lastKept, 0)).map((edit) => edit.text)
  if (lastKept < 0) possible.push(sent.request.text)
  for (const text of ran) expect(possible).toContain(text)
}

function expectedRuns(sent: Sent, state: EntryState): number {
  return state.state === 'done' && state.outcome === 'applied' && sent.request.kind !== 'interrupt' ? 1 : 0
}

/** Queued messages that nobody moved ran in the order of the journal. */
function checkOrder(world: World, entries: readonly Entry[], prompts: readonly string[]): void {
  const promoted = new Set(world.sent.filter((sent) => sent.promoted).map((sent) => sent.request.command))
  const wanted = entries
    .filter((entry) => entry.request.kind === 'queue' && !promoted.has(entry.request.command))
    .map((entry) => entry.edited ?? entry.request.text)
    .filter((text) => prompts.includes(text))
  expect(prompts.filter((prompt) => wanted.includes(prompt))).toEqual(wanted)
}

/** An interrupt stopped the turn that its device saw, never a later one. */
function checkInterrupts(world: World): void {
  const { commands } = world.stored()
  for (const { sender, request } of world.sent) {
    if (request.kind !== 'interrupt') continue
    const id = `device-${sha256Hex(`${sender.device}:${request.command}`).slice(0, 48)}`
    const cancel = commands.findIndex((command) => command.id === id)
    if (cancel < 0) continue
    expect(commands[cancel]?.action.type).toBe('cancel')
    const begun = commands.slice(0, cancel).filter((command) => command.action.type === 'continue')
    expect(request.based_on).toBeGreaterThanOrEqual(begun.at(-1)?.revision ?? 1)
  }
}

function deviceOf(at: number): (typeof devices)[number] {
  return devices[at] ?? phone
}
