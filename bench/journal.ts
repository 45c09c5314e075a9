import { stat } from 'node:fs/promises'
import { journalEntriesMax } from '../src/limits.ts'
import { type CommandDesk, journalOf, mint, openCommandDesk, senders } from './command-desk.ts'
import { durableReplace } from './floors/durable.ts'
import { quantile, summary, timed } from './measure.ts'
import { met, sayStalls, watchStalls } from './stall.ts'

const sizes = [10, 1_000, journalEntriesMax] as const
const rounds = 20
const commandsPerRound = 12
/** What is dearer by so much than the disk's own share of a longer file, at most. */
const target = 1.3
const small = Buffer.alloc(1_024)

/**
 * One command at 10, 1,000 and 4,096 entries in the journal, with nothing else under way: the production journal and
 * store on the real disk. Each steers a queued task, so that it is recorded, applied and answered. In turn with it, the
 * floor: a raw durable replacement of a file as large as the journal is then.
 *
 * What is asked is that the median grows by no more than 1.3 times what the floor's does.
 */
export async function journal(): Promise<void> {
  const measured = sizes.map((entries) => ({
    entries,
    product: [] as number[],
    floor: [] as number[],
    bytes: 0,
  }))
  await oneRound(measured, false)
  const stalls = await watchStalls()
  for (let round = 0; round < rounds; round += 1) await oneRound(measured, true)
  const seen = await stalls()
  for (const { entries, product, floor, bytes } of measured) {
    console.log(`journal: one command at ${entries} entries (${bytes} bytes)`)
    console.log(`  product  ${summary(product)}\n  floor    ${summary(floor)}`)
  }
  judge(measured)
  console.log(`  ${sayStalls(seen)}`)
}

interface Measured {
  readonly entries: number
  readonly product: number[]
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
  for (let command = 0; command < commandsPerRound; command += 1) {
    for (const [index, desk] of desks.entries()) {
      const into = measured[index]
      const file = files[index]
      if (into === undefined || file === undefined) continue
      const floor = await afterSettling(desk, () => durableReplace(desk.dir, 'floor', file))
      const product = await afterSettling(desk, () => steer(desk))
      if (!counted) continue
      into.floor.push(floor)
      into.product.push(product)
      into.bytes = (await stat(desk.journal)).size
    }
  }
  for (const desk of desks) await desk.strike()
}

/** What comes right after a large write pays for it; so everything comes after the same small one. */
async function afterSettling({ dir }: CommandDesk, work: () => Promise<void>): Promise<number> {
  await durableReplace(dir, 'settle', small)
  return await timed(work)
}

async function steer({ commands }: CommandDesk): Promise<void> {
  const [sender] = senders(1)
  if (sender === undefined) return
  const state = await commands.record(sender, mint('task-1', 'steer'))
  if (state.state !== 'done' || state.outcome !== 'applied') throw new Error(JSON.stringify(state))
}

function judge(measured: readonly Measured[]): void {
  const [least] = measured
  if (least === undefined) return
  const median = (samples: readonly number[]) => quantile(samples, 0.5)
  for (const { entries, product, floor } of measured.slice(1)) {
    const dearer = median(product) - median(least.product)
    const allowed = target * (median(floor) - median(least.floor))
    const ratio = dearer / (allowed / target)
    const sides = `${dearer.toFixed(3)} ms dearer than at ${least.entries}`
    const verdict = `${ratio.toFixed(2)} × the difference of the floors`
    console.log(
      `  at ${entries}: ${sides}, ${verdict} (target ≤ ${target.toFixed(2)} ×: ${met(dearer <= allowed)})`,
    )
  }
}
