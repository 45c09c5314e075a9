import { startProgram } from '../../support/door.ts'
import { type Point, type Site, sitesOf } from './calls.ts'
import { journalOf, type Outcome, outcomeOf } from './outcome.ts'
import { type Asking, askOnce, type Heard, isYes, script, taskOf } from './session.ts'
import type { Cast, Mould } from './stage.ts'
import { type Fault, type Traced, traced } from './traced.ts'

const triesMax = 40
/** Longer than the journal takes to write what it only marked, and than its sweep takes to come round. */
const decidedMs = 15_000
const serving = ['serve', '--loopback-test', '--log-level', 'error', '--json']

/** An undisturbed session: the calls it made, and what it came to. */
export interface DryRun {
  readonly sites: readonly Site[]
  readonly outcome: Outcome
}

export async function dryRun(mould: Mould): Promise<DryRun> {
  const cast = await mould.cast()
  try {
    const service = cast.started(traced(cast.home, cast.log))
    await service.firstLine
    for (const asking of script(cast.device)) {
      const heard = await askOnce(cast.device, asking, service.ended)
      if (!isYes(heard)) throw new Error(`${asking.op.kind}: ${JSON.stringify(heard)}`)
    }
    await service.stop()
    return {
      sites: sitesOf(await service.log(), cast.home),
      outcome: await outcomeOf(cast.home, taskOf(cast.device, 0)),
    }
  } finally {
    await cast.end()
  }
}

/** What a run with a fault came to. */
export interface FaultRun {
  readonly wasHit: boolean
  readonly outcome: Outcome
  /** What was answered while the fault lasted, but for yes. */
  readonly heard: readonly Heard[]
}

/**
 * The session with one fault in it: what got no yes is asked again until it has one, of the service that goes on or, when
 * that has ended, of the next. Then it is killed, so that only what is on the disk counts, and started once more.
 */
export async function faultRun(mould: Mould, point: Point, fault: Fault): Promise<FaultRun> {
  const cast = await mould.cast()
  try {
    const service = cast.started(traced(cast.home, cast.log, { point, fault }))
    const heard: Heard[] = []
    const begun = await begins(service)
    const { attempt, left } = begun
      ? await askAll(cast, service, heard)
      : { attempt: 0, left: script(cast.device) }
    // Some calls are only made when a service is stopped in peace.
    await service.stop((await service.wasHit()) ? 'SIGKILL' : 'SIGTERM')
    await journalOf(cast.home)
    if (left.length > 0) await onceMore(cast, left)
    await afterwards(cast)
    const outcome = await outcomeOf(cast.home, taskOf(cast.device, attempt))
    return { wasHit: await service.wasHit(), outcome, heard }
  } finally {
    await cast.end()
  }
}

/** Whether it says that it is ready. What it complains of before that is the fault, which is lifted then. */
async function begins(service: Traced): Promise<boolean> {
  const ready = service.firstLine.then(
    () => true,
    () => false,
  )
  const complains = service.firstWarning.then(
    () => service.lift(),
    () => undefined,
  )
  await Promise.race([ready, complains])
  return await ready
}

interface Asked {
  /** How often the task had to be created anew, because its creation was refused. */
  readonly attempt: number
  /** What has no yes when the service ends; nothing when it outlives the fault. */
  readonly left: readonly Asking[]
}

async function askAll(cast: Cast, service: Traced, heard: Heard[], attempt = 0): Promise<Asked> {
  const asked = script(cast.device, attempt)
  let wasHit = false
  for (const [index, asking] of asked.entries()) {
    const answer = await untilYes(cast, service, asking, heard)
    if (answer === 'ended') return { attempt, left: asked.slice(index) }
    if (answer === 'refused') return await askAll(cast, service, heard, attempt + 1)
    // What comes next means something else while the effect of what came before is in doubt.
    if (!wasHit && (await service.wasHit())) {
      wasHit = true
      await untilDecided(cast, service)
    }
  }
  return { attempt, left: [] }
}

/**
 * Asks again and again, and lifts the fault at the first answer that is no yes.
 * @returns `refused` for a request that stays refused: a person would make another
 */
async function untilYes(cast: Cast, service: Traced, asking: Asking, heard: Heard[]) {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const answer = await askOnce(cast.device, asking, service.ended)
    if (isYes(answer)) return 'yes'
    heard.push(answer)
    if (answer === 'ended') return answer
    if (tries === 0) await service.lift()
    if (asking.signed !== undefined && answer !== 'silence') return 'refused'
  }
  throw new Error(`never a yes to ${asking.op.kind}: ${JSON.stringify(heard.at(-1))}`)
}

/** Whoever has to wait for a decision lifts the fault. Of a service that is gone nothing is waited for. */
async function untilDecided({ home }: Cast, service: Traced): Promise<void> {
  const from = performance.now()
  let isGone = false
  void service.ended.then(() => {
    isGone = true
  })
  for (let isLifted = false; !isGone; ) {
    if (performance.now() - from > decidedMs) throw new Error('a command stays undecided')
    const { entries } = await journalOf(home)
    if (!entries.some(({ state }) => state.state === 'received' || state.state === 'dispatching')) return
    if (!isLifted && performance.now() - from > decidedMs / 10) {
      await service.lift()
      isLifted = true
    }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** A service without any fault gets the rest; every question has its yes at once, or when it may be signed anew. */
async function onceMore(cast: Cast, left: readonly Asking[]): Promise<void> {
  const service = cast.started(startProgram(cast.home, serving))
  await service.firstLine
  for (const asking of left) {
    let heard = await askOnce(cast.device, asking, service.ended)
    for (let tries = 1; heard === 'silence' && asking.signed && tries < triesMax; tries += 1) {
      heard = await askOnce(cast.device, asking, service.ended)
    }
    if (!isYes(heard)) throw new Error(`after the fault, ${asking.op.kind}: ${JSON.stringify(heard)}`)
  }
  await service.stop('SIGKILL')
}

/** What the next start makes of it: it finishes what was begun. */
async function afterwards(cast: Cast): Promise<void> {
  const service = cast.started(startProgram(cast.home, serving))
  await service.firstLine
  await service.stop('SIGTERM')
}
