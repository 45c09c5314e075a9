import { appendFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { execa } from 'execa'
import { systemClock } from '../../../src/seams/clock.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore } from '../../../src/store/tasks/store.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { type Point, pointsOf, sitesOf } from '../sweep/calls.ts'
import { said, which } from '../sweep/sweep.ts'
import type { Fault } from '../sweep/traced.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { filesOf, seenBy } from './state.ts'
import { type Ground, type Ran, runCommand, runTraced, type Traced } from './traced-command.ts'

/** A scenario that nothing disturbs. */
interface Undisturbed {
  readonly stdout: string
  /** What a reader may find if it was cut off: what was there, a store that is only opened, or all of it. */
  readonly onTheWay: ReadonlySet<string>
  readonly after: string
  readonly files: Readonly<Record<string, string>>
  readonly points: readonly Point[]
}

/** What a sweep came to so far. */
interface Tally {
  found: number
  hit: number
  readonly faults: string[]
  /** What another scenario tries already. */
  readonly claimed: Set<string>
}

const report = process.env['DRAWBRIDGE_SWEEP_REPORT']
/** Runs wait for processes and for the disk most of the time. */
const lanes = 2
/** A whole store in a message helps nobody. */
const wordsMax = 400

/**
 * Runs the scenarios once for each durable call that they make, with the fault there.
 * @returns what went otherwise than it must, a line each
 */
export async function sweepStore(fault: Fault): Promise<Tally> {
  const swept: Tally = { found: 0, hit: 0, faults: [], claimed: new Set() }
  const waiting = [...scenarios]
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await sweepScenario(next, fault, swept)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  if (report !== undefined) appendFileSync(report, `store-${fault} ${swept.found} ${swept.hit}\n`)
  return swept
}

async function sweepScenario(scenario: Scenario, fault: Fault, swept: Tally): Promise<void> {
  const store = await scenario.make()
  const undisturbed = await dryRun(scenario, store)
  for (const point of undisturbed.points.filter((one) => isNext(swept.claimed, one))) {
    const ground = await groundOf(store)
    const ran = await runTraced(scenario, ground, { point, fault })
    swept.found += 1
    if (ran.wasHit) swept.hit += 1
    for (const wrong of await wrongIn(scenario, { ground, ran, fault, undisturbed })) {
      swept.faults.push(`${scenario.name}, ${fault} at ${said(point)}: ${wrong}`.slice(0, wordsMax))
    }
  }
}

/** One of each call and file is tried once in all scenarios together, unless each point is. */
function isNext(claimed: Set<string>, { call, path }: Point): boolean {
  const pair = `${call} ${path}`
  if (which === 'one' && claimed.has(pair)) return false
  claimed.add(pair)
  return true
}

async function dryRun(scenario: Scenario, store: string): Promise<Undisturbed> {
  const ground = await groundOf(store)
  const onTheWay = new Set([await seenBy(ground.store), await onlyOpened(store)])
  if (scenario.isNew) for (const code of ['corrupt_store', 'io']) onTheWay.add(code)
  const { code, stdout, stderr, log } = await runTraced(scenario, ground)
  if (code !== 0) throw new Error(`${scenario.name} without a fault: ${stderr}`)
  const [after, files] = [await seenBy(ground.store), await filesOf(ground.store)]
  return {
    stdout,
    onTheWay: onTheWay.add(after),
    after,
    files,
    points: pointsOf(sitesOf(log, ground.base), which),
  }
}

/** What a reader finds after the store was made or migrated by an opening, and no command came. */
async function onlyOpened(store: string): Promise<string> {
  const ground = await groundOf(store)
  await (await openTaskStore(realDisk, systemClock, ground.store)).close()
  return seenBy(ground.store)
}

/** A copy of a store in a folder of its own. */
async function groundOf(store: string): Promise<Ground> {
  const base = await tempDir()
  const inside = join(base, 'in')
  await mkdir(inside, { mode: 0o700 })
  const from = dirname(store)
  await execa('cp', ['-a', `${from}/.`, inside])
  return { base: inside, store: join(inside, basename(store)), log: join(base, 'strace.log') }
}

interface Disturbed {
  readonly ground: Ground
  readonly ran: Traced
  readonly fault: Fault
  readonly undisturbed: Undisturbed
}

async function wrongIn(scenario: Scenario, disturbed: Disturbed): Promise<string[]> {
  const { ground, ran, fault, undisturbed } = disturbed
  if (!ran.wasHit) return ['no such call was made']
  const wrong: string[] = []
  const acknowledged = ran.code === 0
  if (acknowledged && ran.stdout !== undisturbed.stdout) wrong.push(`acknowledged ${ran.stdout}`)
  if (!acknowledged && !isHonest(ran, fault)) wrong.push(`exit ${ran.code}, ${ran.stdout}${ran.stderr}`)
  const found = await seenBy(ground.store)
  const isAllowed = acknowledged ? found === undisturbed.after : undisturbed.onTheWay.has(found)
  if (!isAllowed) wrong.push(`a reader finds ${found}`)
  return [...wrong, ...(await wrongAfterwards(scenario, disturbed))]
}

/** A killed process says nothing; any other says on standard error that the disk failed. */
function isHonest({ code, stdout, stderr }: Ran, fault: Fault): boolean {
  if (stdout !== '') return false
  return fault === 'kill' ? code === undefined || code === 137 : code === 1 && /"code":"(io)"/.test(stderr)
}

/** Without the fault, the same command comes to the same end as if nothing had been, and then to no other. */
async function wrongAfterwards(
  scenario: Scenario,
  { ground, ran, undisturbed }: Disturbed,
): Promise<string[]> {
  const left = await filesOf(ground.store)
  const retried = await runCommand(scenario, ground)
  if (retried.code !== 0) {
    const refuses = scenario.isNew && ran.code !== 0 && /"code":"corrupt_store"/.test(retried.stderr)
    const untouched = JSON.stringify(left) === JSON.stringify(await filesOf(ground.store))
    return refuses && untouched ? [] : [`the next try exits ${retried.code}: ${retried.stderr}`]
  }
  const wrong: string[] = []
  if (isReceipt(retried.stdout) && retried.stdout !== undisturbed.stdout) {
    wrong.push(`the next try answers ${retried.stdout}`)
  }
  const files = await filesOf(ground.store)
  for (const name of new Set([...Object.keys(files), ...Object.keys(undisturbed.files)])) {
    if (files[name] !== undisturbed.files[name]) wrong.push(`${name} is ${files[name]}`)
  }
  return wrong
}

/** What was put away before is told so by `false`; a receipt is the first one for ever. */
function isReceipt(stdout: string): boolean {
  return stdout.includes('task-receipt')
}
