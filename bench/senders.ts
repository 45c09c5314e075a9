import type { CommandKind } from '../src/commands/journal-entry.ts'
import { heldPerTaskMax } from '../src/limits.ts'
import { type CommandDesk, senders as makeSenders, mint, openCommandDesk } from './command-desk.ts'
import { durableReplace } from './floors/durable.ts'
import { quantile, timed } from './measure.ts'
import { sendersOverTheWire } from './senders-wire.ts'
import { met, type Stalls, sayStalls, watchStalls, worstOf } from './stall.ts'

const loads = [1, 8, 64, 256]
const commandsPerRound = 1_024
const rounds = 3
const floorWrites = 50
const looked = 64
const perWriteTarget = 10
const timesTarget = 5

/** What the senders of a load do. */
interface Deed {
  readonly name: string
  readonly kind: CommandKind
  /** The journal alone has to be written for it: what is asked of 64 senders is asked of these. */
  readonly journalOnly: boolean
  /** Everyone has a task, or as many commands as a queue takes go to one task, then as many to the next. */
  readonly oneTask: boolean
}

const deeds: readonly Deed[] = [
  { name: 'messages held, many tasks', kind: 'queue', journalOnly: true, oneTask: false },
  { name: 'messages held, one task', kind: 'queue', journalOnly: true, oneTask: true },
  { name: 'corrections applied, many tasks', kind: 'steer', journalOnly: false, oneTask: false },
  { name: 'corrections applied, one task', kind: 'steer', journalOnly: false, oneTask: true },
]

/**
 * Commands a second, and journal writes a command, of so many senders that each send the next when the last was
 * answered: the production journal and store on the real disk, and then sixty-four devices over the wire. The floor is
 * one pair of syncs a command, as of a journal that wrote each by itself: a durable replacement of a small file.
 */
export async function senders(): Promise<void> {
  for (const deed of deeds) for (const count of loads) await load(deed, count)
  await sendersOverTheWire(looked)
}

async function load(deed: Deed, count: number): Promise<void> {
  const perSecond: number[] = []
  const perWrite: number[] = []
  const pairs: number[] = []
  const times: number[] = []
  const total = Math.min(commandsPerRound, count * 128)
  const stalls: Stalls[] = []
  for (let round = 0; round < rounds; round += 1) {
    const desk = await openCommandDesk(tasksOf(deed, count, total))
    pairs.push(await syncPairs(desk))
    const before = desk.writes()
    const watched = await watchStalls()
    const ms = await timed(() => everyoneSends(desk, deed, { count, total }))
    stalls.push(await watched())
    perSecond.push((1_000 * total) / ms)
    times.push((1_000 * total) / ms / (pairs.at(-1) ?? Number.NaN))
    perWrite.push(total / (desk.writes() - before))
    await desk.strike()
  }
  const [shared, ratio] = [quantile(perWrite, 0.5), quantile(times, 0.5)]
  console.log(`senders: ${count}, ${deed.name}, ${rounds} rounds of ${total}`)
  console.log(`  ${sayRounds(perSecond)} commands a second, ${shared.toFixed(1)} a journal write`)
  console.log(`  one pair of syncs a command ${sayRounds(pairs)} a second: ${ratio.toFixed(2)} ×`)
  if (count === looked && deed.journalOnly) {
    console.log(
      `  target ≥ ${perWriteTarget} a write: ${met(shared >= perWriteTarget)}, ≥ ${timesTarget} ×: ${met(ratio >= timesTarget)}`,
    )
  }
  console.log(`  ${sayStalls(worstOf(stalls))}`)
}

/** `480 (362, 486, 480)`: the median, and each. */
function sayRounds(values: readonly number[]): string {
  return `${quantile(values, 0.5).toFixed(0)} (${values.map((one) => one.toFixed(0)).join(', ')})`
}

function taskNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `task-${index}`)
}

/** As many tasks as keep every queue within its bound. */
function tasksOf({ oneTask }: Deed, count: number, total: number): string[] {
  const queues = Math.ceil(total / heldPerTaskMax)
  return taskNames(oneTask ? queues : Math.max(queues, Math.min(count, 64)))
}

async function everyoneSends(
  { commands }: CommandDesk,
  deed: Deed,
  { count, total }: { count: number; total: number },
): Promise<void> {
  const tasks = tasksOf(deed, count, total)
  let sent = 0
  const nextTask = (sender: number): string => {
    const at = deed.oneTask ? Math.floor(sent / heldPerTaskMax) : sender + Math.floor(sent / count) * count
    sent += 1
    return tasks[at % tasks.length] ?? ''
  }
  await Promise.all(
    makeSenders(count).map(async (sender, index) => {
      while (sent < total) {
        const state = await commands.record(sender, mint(nextTask(index), deed.kind))
        if (state.state === 'done' ? state.outcome !== 'applied' : state.state !== 'held')
          throw new Error(JSON.stringify(state))
      }
    }),
  )
}

/** Durable replacements of a small file in a second, one after the other. */
async function syncPairs({ dir }: CommandDesk): Promise<number> {
  const small = Buffer.alloc(1_024)
  const samples: number[] = []
  for (let write = 0; write < floorWrites; write += 1)
    samples.push(await timed(() => durableReplace(dir, 'floor', small)))
  return 1_000 / quantile(samples, 0.5)
}
