import { stat } from 'node:fs/promises'
import { journalEntriesMax } from '../src/limits.ts'
import { type CommandDesk, journalOf, mint, openCommandDesk, senders } from './command-desk.ts'
import { durableReplace } from './floors/durable.ts'
import { quantile, summary, timed } from './measure.ts'
import { met, sayStalls, watchStalls } from './stall.ts'

const sizes = [10, 1_000, journalEntriesMax] as const
const rounds = 20
const commandsPerRound = 24
/** What is dearer by so much than the disk's own share of a longer file, at most. */
const target = 1.3
const small = Buffer.alloc(1_024)

/** The command that only the journal has to be written for, and the one that is also applied to the task's file. */
const kinds = ['queue', 'steer'] as const
type Kind = (typeof kinds)[number]

/**
 * One command at 10, 1,000 and 4,096 entries in the journal, with nothing else under way: the production journal and
 * store on the real disk. One is held, one steers a queued task, so that it is recorded, applied and answered. In turn
 * with them, the floor: a raw durable replacement of a file as large as the journal is then.
 *
 * What is asked is that the median grows by no more than 1.3 times what the floor's does.
 */
export async function journal(): Promise<void> {
  const measured = sizes.map((entries): Measured => ({ entries, queue: [], steer: [], floor: [], bytes: 0 }))
  await oneRound(measured, false)
  const stalls = await watchStalls()
  for (let round = 0; round < rounds; round += 1) await oneRound(measured, true)
  const seen = await stalls()
  for (const { entries, queue, steer, floor, bytes } of measured) {
    console.log(`journal: one command at ${entries} entries (${bytes} bytes)`)
    console.log(`  held     ${summary(queue)}\n  applied  ${summary(steer)}\n  floor    ${summary(floor)}`)
  }
  for (const kind of kinds) judge(measured, kind)
  console.log(`  ${sayStalls(seen)}`)
}

interface Measured extends Record<Kind, number[]> {
  readonly entries: number
  readonly floor: number[]
  bytes: number
}

/** A full journal stays full; the others begin a few entries below their number and end as many above it. */
async function oneRound(measured: readonly Measured[], counted: boolean): Promise<void> {
  const desks: CommandDesk[] = []
  for (const { entries } of measured) {
    const before = entries === journalEntriesMax ? entries : entries - commandsPerRound / 2
    desks.push(await openCommandDesk(['task-1'], before))
  }
  const files = measured.map(({ entries }) => journalOf(entries))
  for (let command = 0; command < commandsPerRound; command += kinds.length) {
    for (const [index, desk] of desks.entries()) {
      const [into, file] = [measured[index], files[index]]
      if (into === undefined || file === undefined) continue
      const times = await oneOfEach(desk, file)
      into.bytes = (await stat(desk.journal)).size
      if (counted) for (const name of [...kinds, 'floor'] as const) into[name].push(times[name])
    }
  }
  for (const desk of desks) await desk.strike()
}

async function oneOfEach(desk: CommandDesk, file: Uint8Array): Promise<Record<Kind | 'floor', number>> {
  const floor = await afterSettling(desk, () => durableReplace(desk.dir, 'floor', file))
  const queue = await afterSettling(desk, () => send(desk, 'queue'))
  const steer = await afterSettling(desk, () => send(desk, 'steer'))
  return { floor, queue, steer }
}

/** What comes right after a large write pays for it; so everything comes after the same small one. */
async function afterSettling({ dir }: CommandDesk, work: () => Promise<void>): Promise<number> {
  await durableReplace(dir, 'settle', small)
  return await timed(work)
}

async function send({ commands }: CommandDesk, kind: Kind): Promise<void> {
  const [sender] = senders(1)
  if (sender === undefined) return
  const state = await commands.record(sender, mint('task-1', kind))
  const expected =
    kind === 'queue' ? state.state === 'held' : 'outcome' in state && state.outcome === 'applied'
  if (!expected) throw new Error(JSON.stringify(state))
}

function judge(measured: readonly Measured[], kind: Kind): void {
  const [least] = measured
  if (least === undefined) return
  const median = (samples: readonly number[]) => quantile(samples, 0.5)
  for (const one of measured.slice(1)) {
    const dearer = median(one[kind]) - median(least[kind])
    const floors = median(one.floor) - median(least.floor)
    const what = `${kind === 'queue' ? 'held' : 'applied'} at ${one.entries}`
    const ratio = `${(dearer / floors).toFixed(2)} × the difference of the floors (${floors.toFixed(3)} ms)`
    const verdict = `target ≤ ${target.toFixed(2)} ×: ${met(dearer <= target * floors)}`
    console.log(`  ${what}: ${dearer.toFixed(3)} ms dearer than at ${least.entries}, ${ratio} (${verdict})`)
  }
}
