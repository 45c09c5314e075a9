import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { TaskStore } from '../../../src/store/tasks/store.ts'
import type { Receipt } from '../../../src/store/tasks/task.ts'
import { fuzzRuns } from '../../support/fuzz-runs.ts'
import { type CommandKind, type EventKind, type Model, modelCommand, modelEvent } from './model.ts'
import { codeOf, compare, eventFor } from './model-steps.ts'
import { cancel, correct, goOn, newStore, submit } from './samples.ts'

type Step =
  | { kind: CommandKind; task: string; stale: number }
  | { kind: EventKind; task: string; exit: number; clear: boolean }
  | { kind: 'repeat'; index: number; altered: boolean }
  | { kind: 'reopen' }

const task = fc.constantFrom('a', 'a', 'b')
const commands = fc.record({
  kind: fc.constantFrom<CommandKind>('submit', 'cancel', 'correct', 'continue'),
  task,
  stale: fc.constantFrom(0, 0, 0, 1),
})
const events = fc.record({
  kind: fc.constantFrom<EventKind>('admit', 'admit', 'intend', 'end', 'end', 'lose', 'settle'),
  task,
  exit: fc.integer({ min: 0, max: 1 }),
  clear: fc.integer({ min: 0, max: 9 }).map((number) => number > 0),
})
const repeats = fc.record({ kind: fc.constant('repeat' as const), index: fc.nat(), altered: fc.boolean() })
const reopenings = fc.record({ kind: fc.constant('reopen' as const) })
const plans: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: commands },
    { weight: 8, arbitrary: events },
    { weight: 2, arbitrary: repeats },
    { weight: 1, arbitrary: reopenings },
  ),
  { minLength: 10, maxLength: 50 },
)

const command = (kind: CommandKind, id = 'a'): Step => ({ kind, task: id, stale: 0 })
const event = (kind: EventKind, exit = 0, clear = true, id = 'a'): Step => ({ kind, task: id, exit, clear })
/** One plan that reaches every way in which a turn can end. */
const everyEnd: Step[] = [
  command('submit'),
  command('submit', 'b'),
  command('cancel'),
  command('continue'),
  event('admit'),
  event('admit', 0, true, 'b'),
  event('intend'),
  event('end', 1),
  command('continue'),
  event('admit'),
  command('correct'),
  event('end'),
  command('continue'),
  event('admit'),
  event('lose'),
  event('settle'),
  { kind: 'reopen' },
  command('continue'),
  event('admit'),
  event('end', 0, false),
]

it('agrees with the model over random commands, host events, retries and reopenings', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const { store, reopen } = await newStore()
      const world: World = { store, models: new Map(), accepted: [], seen, count: 0 }
      for (const step of plan) {
        if (step.kind === 'reopen') world.store = await reopen()
        else await play(world, step)
        await compare(world)
      }
    }),
    { numRuns: fuzzRuns(60), examples: [[everyEnd]] },
  )
  // The plans reach what they are meant to reach.
  for (const word of [
    'finished',
    'stopped',
    'failed',
    'unknown',
    'cancelled',
    'disputed',
    'workspace_busy',
  ]) {
    expect(seen).toContain(word)
  }
})

interface World {
  store: TaskStore
  readonly models: Map<string, Model>
  readonly accepted: { bytes: Uint8Array; receipt: Receipt }[]
  readonly seen: Set<string>
  count: number
}

async function play(world: World, step: Exclude<Step, { kind: 'reopen' }>): Promise<void> {
  if (step.kind === 'repeat') return repeat(world, step.index, step.altered)
  if ('stale' in step) return order(world, step)
  const current = world.models.has(step.task) ? await world.store.show(step.task) : null
  const { event: wanted, epoch } = eventFor(step, current)
  const expected = modelEvent(world.models, step.task, step.kind, step)
  world.seen.add(expected ?? '')
  expect(await codeOf(world.store.record(step.task, wanted, epoch))).toBe(expected)
}

async function order(
  world: World,
  { kind, task: id, stale }: { kind: CommandKind; task: string; stale: number },
) {
  world.count += 1
  const revision = Math.max(0, (world.models.get(id)?.revision ?? 1) - stale)
  const make = { submit: () => submit(id, `s${world.count}`), cancel, correct, continue: goOn }[kind]
  const bytes = make(id, revision, `c${world.count}`)
  const expected = modelCommand(world.models, id, kind, revision)
  const applied = world.store.apply(bytes)
  expect(await codeOf(applied)).toBe(expected)
  if (expected === null) world.accepted.push({ bytes, receipt: await applied })
}

async function repeat({ store, accepted }: World, index: number, altered: boolean): Promise<void> {
  const old = accepted[index % Math.max(1, accepted.length)]
  if (old === undefined) return
  if (!altered) expect(await store.apply(old.bytes)).toEqual(old.receipt)
  else expect(await codeOf(store.apply(Uint8Array.of(...old.bytes, 10)))).toBe('command_conflict')
}
