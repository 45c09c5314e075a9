import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { quantile, summary } from '../measure.ts'
import { fillStore, scratch } from './filled-store.ts'
import { inProcesses } from './in-process.ts'

const processes = 8
const rounds = 5

/** The milliseconds of every operation of one round, in each process the first and the ten others. */
interface Round {
  readonly first: readonly number[]
  readonly others: readonly number[]
}

/**
 * Eight fresh processes at once, each of which makes a task and corrects it ten times; in turn with eight that make as
 * many durable replacements of a file.
 */
export async function storeProcesses(): Promise<void> {
  const { base, remove } = await scratch()
  const [product, floor]: [Round[], Round[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    const [dir, bare] = [join(base, `store-${round}`), join(base, `bare-${round}`)]
    await fillStore(dir, 0)
    await mkdir(bare)
    product.push(await allAtOnce('write', dir))
    floor.push(await allAtOnce('bare', bare))
  }
  await remove()
  console.log(`store-processes: ${processes} processes, each one task and ten corrections`)
  say('first, of a cold process', product, floor, ({ first }) => first)
  say('the ten others', product, floor, ({ others }) => others)
}

function say(
  name: string,
  product: readonly Round[],
  floor: readonly Round[],
  of: (round: Round) => readonly number[],
): void {
  const slowest = (rounds: readonly Round[]) => rounds.map((round) => Math.max(...of(round)))
  const ratio = quantile(slowest(product), 0.5) / quantile(slowest(floor), 0.5)
  console.log(`  ${name}\n    operation      ${summary(product.flatMap(of))}`)
  console.log(`    durable write  ${summary(floor.flatMap(of))}`)
  console.log(`    slowest operation of a round      ${summary(slowest(product))}`)
  console.log(`    slowest durable write of a round  ${summary(slowest(floor))}, ${ratio.toFixed(2)} ×`)
}

async function allAtOnce(role: string, dir: string): Promise<Round> {
  const works = Array.from({ length: processes }, (_, index) => [role, dir, `task-${index}`] as const)
  const times = await inProcesses(works)
  return { first: times.map(([first = Number.NaN]) => first), others: times.flatMap((all) => all.slice(1)) }
}
