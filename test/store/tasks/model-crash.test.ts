import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Disk } from '../../../src/seams/disk.ts'
import { openTaskStore, type TaskStore } from '../../../src/store/tasks/store.ts'
import type { Receipt } from '../../../src/store/tasks/task.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { fuzzRuns } from '../../support/fuzz-runs.ts'
import { type SimulatedMachine, simulatedMachine } from '../../support/simulated-disk.ts'
import { type CommandKind, type EventKind, type Model, modelCommand, modelEvent } from './model.ts'
import { codeOf, compare, eventFor } from './model-steps.ts'
import { cancel, correct, goOn, submit } from './samples.ts'

/** What befalls the process during a step: nothing, its death after so many calls of the disk, or a failed write. */
type Mishap =
  | { kind: 'none' }
  | { kind: 'crash'; calls: number }
  | { kind: 'failed' | 'doubtful'; nth: number }

interface Step {
  readonly does: CommandKind | EventKind
  readonly task: string
  readonly clear: boolean
  readonly mishap: Mishap
}

const commandKinds: readonly string[] = ['submit', 'cancel', 'correct', 'continue'] satisfies CommandKind[]
const isCommand = (does: CommandKind | EventKind): does is CommandKind => commandKinds.includes(does)

const mishaps: fc.Arbitrary<Mishap> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: 'none' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('crash' as const), calls: fc.integer({ min: 1, max: 30 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('failed' as const, 'doubtful' as const),
      nth: fc.integer({ min: 1, max: 3 }),
    }),
  },
)
const steps: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom<CommandKind | EventKind>(
    ...(['submit', 'submit', 'cancel', 'correct', 'continue', 'continue'] as const),
    ...(['admit', 'admit', 'intend', 'end', 'end', 'lose', 'settle'] as const),
  ),
  task: fc.constantFrom('a', 'a', 'b'),
  clear: fc.integer({ min: 0, max: 9 }).map((number) => number > 0),
  mishap: mishaps,
})

interface World {
  readonly machine: SimulatedMachine
  readonly models: Map<string, Model>
  readonly accepted: { bytes: Uint8Array; receipt: Receipt }[]
  readonly seen: Set<string>
  store: TaskStore
  count: number
}

/** What may be heard in place of how a step went. */
const hiddenBy = { none: [], crash: [undefined], failed: ['io'], doubtful: ['io'] }

const openOn = (disk: Disk) => openTaskStore(disk, fakeClock(), '/store')

it('agrees with the model over random commands and host events, however often the process dies or a write fails', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 10, maxLength: 60 }),
      fc.infiniteStream(fc.nat(999)),
      async (plan, chances) => {
        const machine = simulatedMachine(() => Number(chances.next().value) / 1_000)
        const store = await openOn(machine.boot())
        const world: World = { machine, models: new Map(), accepted: [], seen, store, count: 0 }
        for (const step of plan) {
          await play(world, step)
          await compare(world)
        }
        for (const { bytes, receipt } of world.accepted)
          expect(await world.store.apply(bytes)).toEqual(receipt)
        await compare(world)
      },
    ),
    { numRuns: fuzzRuns(100) },
  )
  for (const word of ['cut off: not done', 'cut off: done', 'finished', 'unknown', 'workspace_busy', 'io']) {
    expect(seen).toContain(word)
  }
})

/** Tries a step under its mishap; when that hid how it went, looks at what the disk kept, and tries it again. */
async function play(world: World, { does, task, clear, mishap }: Step): Promise<void> {
  const { models, seen } = world
  world.count += 1
  const before = models.get(task)?.revision ?? 0
  const attempt = isCommand(does)
    ? orderOf(world, does, task, before)
    : await recordOf(world, does, task, clear)
  const outcome = await under(world, mishap, () => codeOf(attempt(world.store)))
  const expected = isCommand(does)
    ? modelCommand(models, task, does, before)
    : modelEvent(models, task, does, { exit: 0, clear })
  seen.add(String(outcome))
  seen.add(String(expected))
  expect([expected, ...hiddenBy[mishap.kind]]).toContain(outcome)
  if (mishap.kind === 'none') return
  world.store = await openOn(world.machine.boot())
  const after = (await world.store.list()).find((one) => one.task_id === task)?.revision ?? 0
  // What was acknowledged is there, and what was refused is not.
  if (outcome === null) expect([expected, after]).toEqual([null, before + 1])
  else if (expected !== null) expect(after).toBe(before)
  else expect([before, before + 1]).toContain(after)
  seen.add(after === before ? 'cut off: not done' : 'cut off: done')
  // A command may always be tried again; a host event that was kept must not be recorded twice.
  if (isCommand(does) || after === before) expect(await codeOf(attempt(world.store))).toBe(expected)
}

/** A command whose bytes stay the same however often it is tried; its receipt, too. */
function orderOf(world: World, kind: CommandKind, task: string, revision: number) {
  const make = { submit: () => submit(task, `c${world.count}`), cancel, correct, continue: goOn }[kind]
  const bytes = make(task, revision, `c${world.count}`)
  return async (store: TaskStore): Promise<void> => {
    const receipt = await store.apply(bytes)
    expect(receipt.revision).toBe(revision + 1)
    if (!world.accepted.some((one) => one.bytes === bytes)) world.accepted.push({ bytes, receipt })
  }
}

async function recordOf({ store, models }: World, kind: EventKind, task: string, clear: boolean) {
  const current = models.has(task) ? await store.show(task) : null
  const { event, epoch } = eventFor({ kind, exit: 0, clear }, current)
  return async (on: TaskStore): Promise<void> => {
    await on.record(task, event, epoch)
  }
}

/** @returns the code of `action` or null; `undefined` when the process died before it was known */
async function under(
  { machine }: World,
  mishap: Mishap,
  action: () => Promise<string | null>,
): Promise<string | null | undefined> {
  if (mishap.kind === 'none') return await action()
  if (mishap.kind === 'crash') {
    const crashed = machine.crashAfter(mishap.calls).then(() => undefined)
    return await Promise.race([action(), crashed])
  }
  let changes = 0
  machine.fate = () => {
    changes += 1
    return changes === mishap.nth ? mishap.kind : 'done'
  }
  const outcome = await action()
  machine.fate = () => 'done'
  return outcome
}
