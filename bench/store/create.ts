import { join } from 'node:path'
import { execa } from 'execa'
import { systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore, type TaskStore } from '../../src/store/tasks/store.ts'
import { durableReplace } from '../floors/durable.ts'
import { quantile, summary, timed } from '../measure.ts'
import { copyStore, fillStore, scratch, submitBytes, taskFileBytes } from './filled-store.ts'
import { inProcesses } from './in-process.ts'

const besides = [0, 100, 1_000] as const
const rounds = 20
const growthTarget = 1.2
const program = new URL('../../dist/cli/main.js', import.meta.url).pathname

interface Measured {
  readonly beside: number
  readonly dir: string
  readonly store: TaskStore
  readonly warm: number[]
  readonly fresh: number[]
  readonly command: number[]
}

/**
 * One task made beside 0, 100 and 1,000 tasks of 4 KiB: in a process that has the store open and has listed it, in a
 * fresh one from the opening on, and as a whole command. In turn with the floors: a durable replacement of a file as
 * large, and a bare `node`.
 */
export async function storeCreate(): Promise<void> {
  const { base, remove } = await scratch()
  const measured: Measured[] = []
  for (const beside of besides) {
    const dir = join(base, `warm-${beside}`)
    await fillStore(dir, beside)
    await copyStore(dir, join(base, `fresh-${beside}`))
    const store = await openTaskStore(realDisk, systemClock, dir)
    await store.list()
    measured.push({ beside, dir: join(base, `fresh-${beside}`), store, warm: [], fresh: [], command: [] })
  }
  const floor: number[] = []
  const bare: number[] = []
  const bytes = Buffer.alloc(taskFileBytes, 't')
  for (let round = 0; round < rounds; round += 1) {
    for (const one of measured) await oneRound(one, round)
    for (const _ of besides) floor.push(await timed(() => durableReplace(base, 'floor', bytes)))
    bare.push(await timed(() => execa(process.execPath, ['-e', '0'], { stdin: 'ignore' })))
  }
  say(measured, floor, bare)
  for (const { store } of measured) await store.close()
  await remove()
}

/** What is made stays; of 1,024 tasks there may be as many as these rounds add. */
async function oneRound(
  { beside, dir, store, warm, fresh, command }: Measured,
  round: number,
): Promise<void> {
  warm.push(await timed(() => store.apply(submitBytes(`warm-${round}`))))
  if (round >= rounds / 2 && beside === 1_000) return
  const [times] = await inProcesses([['create', dir, `fresh-${round}`]])
  fresh.push(...(times ?? []))
  const words = [program, 'task', 'submit', '--file', '-', '--store', dir]
  const env = { DRAWBRIDGE_ALLOW_ROOT: '1' }
  const input = submitBytes(`command-${round}`)
  command.push(await timed(() => execa(process.execPath, words, { env, input })))
}

function say(measured: readonly Measured[], floor: readonly number[], bare: readonly number[]): void {
  const unit = quantile(floor, 0.5)
  console.log('store-create: one task made beside others of 4 KiB')
  console.log(`  one durable write  ${summary(floor)}\n  node -e 0          ${summary(bare)}`)
  for (const { beside, warm, fresh, command } of measured) {
    for (const [name, times] of Object.entries({ warm, fresh, command })) {
      const writes = (quantile(times, 0.5) / unit).toFixed(2)
      console.log(`  beside ${beside}, ${name.padEnd(7)}  ${summary(times)}, ${writes} durable writes`)
    }
  }
  const [least, most] = [measured[0], measured.at(-1)]
  const growth = quantile(most?.warm ?? [], 0.5) / quantile(least?.warm ?? [], 0.5)
  console.log(
    `  growth from 0 to 1,000, warm: ${growth.toFixed(2)} × (target ≤ ${growthTarget.toFixed(2)} ×)`,
  )
}
