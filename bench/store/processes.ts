import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { quantile, summary } from '../measure.ts'
import { fillStore, scratch } from './filled-store.ts'
import { inProcesses } from './in-process.ts'

const processes = 8
const rounds = 5

/**
 * Eight processes at once, each of which makes a task and corrects it ten times; in turn with eight that make as many
 * durable replacements of a file.
 */
export async function storeProcesses(): Promise<void> {
  const { base, remove } = await scratch()
  const [product, floor]: [number[], number[]] = [[], []]
  const slowest: { product: number[]; floor: number[] } = { product: [], floor: [] }
  for (let round = 0; round < rounds; round += 1) {
    const [dir, bare] = [join(base, `store-${round}`), join(base, `bare-${round}`)]
    await fillStore(dir, 0)
    await mkdir(bare)
    const store = await allAtOnce('write', dir)
    const raw = await allAtOnce('bare', bare)
    product.push(...store)
    floor.push(...raw)
    slowest.product.push(Math.max(...store))
    slowest.floor.push(Math.max(...raw))
  }
  await remove()
  const ratio = (quantile(slowest.product, 0.5) / quantile(slowest.floor, 0.5)).toFixed(2)
  console.log(`store-processes: ${processes} processes, each one task and ten corrections`)
  console.log(`  one operation      ${summary(product)}\n  one durable write  ${summary(floor)}`)
  console.log(`  slowest operation of a round  ${summary(slowest.product)}`)
  console.log(`  slowest durable write         ${summary(slowest.floor)}, ratio of medians ${ratio} ×`)
}

async function allAtOnce(role: string, dir: string): Promise<number[]> {
  const works = Array.from({ length: processes }, (_, index) => [role, dir, `task-${index}`] as const)
  return (await inProcesses(works)).flat()
}
