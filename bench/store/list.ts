import { join } from 'node:path'
import { quantile, summary } from '../measure.ts'
import { fillStore, scratch } from './filled-store.ts'
import { inProcesses } from './in-process.ts'

const tasks = 1_000
const rounds = 10
const warmTargetMs = 15
const coldTarget = 10

/**
 * A list of 1,000 tasks of 4 KiB in fresh processes, each of which then lists again; in turn with fresh processes that
 * only read the same files.
 */
export async function storeList(): Promise<void> {
  const { base, remove } = await scratch()
  const dir = join(base, 'tasks')
  await fillStore(dir, tasks)
  const [cold, warm, floor]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round += 1) {
    const [[first = Number.NaN, ...again] = []] = await inProcesses([['list', dir]])
    cold.push(first)
    warm.push(...again)
    floor.push(...(await inProcesses([['read', dir]])).flat())
  }
  await remove()
  const ratio = (quantile(cold, 0.5) / quantile(floor, 0.5)).toFixed(1)
  console.log(`store-list: ${tasks} tasks of 4 KiB`)
  console.log(`  cold   ${summary(cold)}\n  reads  ${summary(floor)}`)
  console.log(`  ratio of medians ${ratio} × (target ≤ ${coldTarget} ×)`)
  console.log(`  warm   ${summary(warm)} (target: median ≤ ${warmTargetMs} ms)`)
}
