import { appendFileSync } from 'node:fs'
import { type Point, pointsOf } from './calls.ts'
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
const triesMax = 4

/** Plays the session once for each point, with the fault there, and compares what it came to with an undisturbed one. */
export async function sweep(fault: Fault): Promise<Swept> {
  const swept = await Promise.all(Array.from({ length: lanes }, (_, lane) => sweepLane(fault, lane)))
  const sum = (of: (one: Swept) => number) => swept.reduce((total, one) => total + of(one), 0)
  const whole = {
    found: sum((one) => one.found),
    hit: sum((one) => one.hit),
    faults: swept.flatMap((one) => one.faults),
  }
  if (report !== undefined) appendFileSync(report, `${fault} ${whole.found} ${whole.hit}\n`)
  return whole
}

async function sweepLane(fault: Fault, lane: number): Promise<Swept> {
  const mould = await makeMould()
  const { sites, outcome } = await dryRun(mould)
  const points = pointsOf(sites, which).filter((_, index) => index % lanes === lane)
  let hit = 0
  const faults: string[] = []
  for (const point of points) {
    try {
      const run = await hitting(mould, point, fault)
      if (run.wasHit) hit += 1
      else faults.push(`${fault} at ${said(point)}: no such call was made`)
      const wrong = wrongIn(run, JSON.stringify(run.outcome) === JSON.stringify(outcome))
      if (wrong !== null) faults.push(`${fault} at ${said(point)}: ${wrong}`)
    } catch (error) {
      faults.push(`${fault} at ${said(point)}: ${String(error)}`)
    }
  }
  return { found: points.length, hit, faults }
}

/** Calls that may share a write or not are not the same number in every session: such a point is tried again. */
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
