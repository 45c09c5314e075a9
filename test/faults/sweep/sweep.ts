import { appendFileSync } from 'node:fs'
import { inEveryRun, type Point, pointsOf, type Site } from './calls.ts'
import { dryRun, type FaultRun, faultRun } from './run.ts'
import { isYes } from './session.ts'
import { type Mould, makeMould } from './stage.ts'
import type { Fault } from './traced.ts'

/** What a sweep came to. */
export interface Swept {
  readonly found: number
  readonly hit: number
  /** What went otherwise than without the fault, a line each. */
  readonly faults: readonly string[]
}

/** `each` point in a long run, which DRAWBRIDGE_SWEEP asks for; otherwise one of each call and file. */
export const which = process.env['DRAWBRIDGE_SWEEP'] === 'each' ? 'each' : 'one'
const report = process.env['DRAWBRIDGE_SWEEP_REPORT']
/** Runs wait for processes most of the time. */
const lanes = 2
/** How many undisturbed sessions each lane plays: calls that may share a write or not are not the same in all. */
const dryRuns = which === 'each' ? 3 : 1
const triesMax = 4

/** Plays the session once for each point, with the fault there, and compares what it came to with an undisturbed one. */
export async function sweep(fault: Fault): Promise<Swept> {
  const all = await Promise.all(Array.from({ length: lanes }, openLane))
  const points = pointsOf(inEveryRun(all.flatMap((lane) => lane.runs)), which)
  const swept = { found: points.length, hit: 0, faults: [] as string[] }
  const waiting = [...points]
  const work = async (lane: Lane) => {
    for (let point = waiting.shift(); point !== undefined; point = waiting.shift()) {
      const { wasHit, wrong } = await tried(lane, point, fault)
      if (wasHit) swept.hit += 1
      if (wrong !== null) swept.faults.push(`${fault} at ${said(point)}: ${wrong}`)
    }
  }
  await Promise.all(all.map(work))
  if (report !== undefined) appendFileSync(report, `${fault} ${swept.found} ${swept.hit}\n`)
  return swept
}

/** Who plays one session after another, and what came of those that nothing disturbed. */
interface Lane {
  readonly mould: Mould
  readonly runs: readonly (readonly Site[])[]
  readonly outcome: string
}

async function openLane(): Promise<Lane> {
  const mould = await makeMould()
  const runs: (readonly Site[])[] = []
  const outcomes = new Set<string>()
  for (let run = 0; run < dryRuns; run += 1) {
    const { sites, outcome } = await dryRun(mould)
    runs.push(sites)
    outcomes.add(JSON.stringify(outcome))
  }
  const [outcome = '', ...others] = outcomes
  if (others.length > 0) throw new Error(`undisturbed sessions came to ${[...outcomes].join(' and ')}`)
  return { mould, runs, outcome }
}

async function tried(
  { mould, outcome }: Lane,
  point: Point,
  fault: Fault,
): Promise<{ wasHit: boolean; wrong: string | null }> {
  try {
    const run = await hitting(mould, point, fault)
    const wrong = wrongIn(run, JSON.stringify(run.outcome) === outcome)
    return { wasHit: run.wasHit, wrong: run.wasHit ? wrong : 'no such call was made' }
  } catch (error) {
    return { wasHit: false, wrong: String(error) }
  }
}

/** A session that made fewer calls than any before it is played again. */
async function hitting(mould: Mould, point: Point, fault: Fault): Promise<FaultRun> {
  for (let tries = 1; ; tries += 1) {
    const run = await faultRun(mould, point, fault)
    if (run.wasHit || tries === triesMax) return run
  }
}

function wrongIn({ heard, outcome }: FaultRun, isSame: boolean): string | null {
  const codes = heard.map((one) => (typeof one === 'object' && one.status === 'refused' ? one.code : one))
  const untold = codes.filter((code) => !visible.has(String(code)))
  if (heard.some(isYes) || untold.length > 0) return `answered ${JSON.stringify(untold)}`
  return isSame ? null : `came to ${JSON.stringify(outcome)}`
}

/** How a fault of the disk may show: the service is gone, has no answer yet, or says that it cannot. */
const visible = new Set(['ended', 'silence', 'unavailable'])

/** `fsync 2 of tasks/task` */
export function said({ call, path, nth }: Point): string {
  return `${call} ${nth} of ${path}`
}
