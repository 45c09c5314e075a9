import { fork } from 'node:child_process'
import { once } from 'node:events'

/**
 * Starts processes that have loaded what they need, and lets all of them begin at once.
 * @param works role, store and name of each
 * @returns the milliseconds that each of them took
 */
export async function inProcesses(
  works: readonly (readonly [string, string, string?])[],
): Promise<number[][]> {
  const path = new URL('./child.ts', import.meta.url).pathname
  const children = works.map((work) => fork(path, work.map(String)))
  await Promise.all(children.map((child) => once(child, 'message')))
  const done = children.map((child) => once(child, 'message'))
  for (const child of children) child.send('begin')
  return (await Promise.all(done)).map(([times]) => times as number[])
}
