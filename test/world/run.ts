import type { Entry } from '../../src/commands/journal-entry.ts'
import { devices, taskIds } from './cast.ts'
import { always, atEffects, atRest, type Check, comesToRest, whenQuiet } from './invariants.ts'
import { onDisk } from './on-disk.ts'
import type { Schedule } from './steps.ts'
import { deliver, sendHead, take } from './take.ts'
import type { Tally } from './tally.ts'
import { begin, end } from './turns.ts'
import { attempt, openWorld, quiet, type Sabotage, settleLost, type Violation, type World } from './world.ts'

const roundsMax = 400

/**
 * Plays a schedule, checking after every step, and lets the world come to rest.
 * @returns the first thing that is not as it should be, or null
 */
export async function run(
  schedule: Schedule,
  tally: Tally,
  sabotage: Sabotage = {},
): Promise<Violation | null> {
  const world = await openWorld(schedule.seed, tally, sabotage)
  for (const [index, step] of schedule.steps.entries()) {
    tally.step(step)
    await take(world, step)
    for (let turn = (index * 7 + schedule.seed) % 23; turn > 0; turn -= 1) await Promise.resolve()
    const checks = step.do === 'settle' ? { ...always, ...whenQuiet } : always
    const [first] = violationsOf(world, checks)
    if (first !== undefined) return first
  }
  const isResting = await rest(world)
  await world.host.commands.close().catch(() => undefined)
  tally.check(comesToRest)
  if (!isResting && (sabotage.looksFor ?? comesToRest) === comesToRest)
    return { invariant: comesToRest, detail: 'it still changes' }
  return violationsOf(world, { ...always, ...atRest })[0] ?? null
}

/** Every violation there is. */
function violationsOf(world: World, checks: Readonly<Record<string, Check>>): Violation[] {
  const { tally, machine } = world
  const disk = onDisk(machine, world.looked)
  if (disk.journal !== world.looked?.journal)
    for (const { state } of disk.entries.values()) tally.state(state)
  world.looked = disk
  const found = world.violations.splice(0)
  for (const invariant of atEffects) tally.check(invariant)
  for (const [invariant, check] of Object.entries(checks)) {
    tally.check(invariant)
    const detail = check(world, disk)
    if (detail !== null) found.push({ invariant, detail })
  }
  const { looksFor } = world.sabotage
  return looksFor === undefined ? found : found.filter(({ invariant }) => invariant === looksFor)
}

/** Delivers everything, lets every lease lapse and every turn end, again and again until nothing changes. */
async function rest(world: World): Promise<boolean> {
  world.machine.fate = () => 'done'
  await quiet()
  let before = ''
  for (let round = 0; round < roundsMax; round += 1) {
    for (const device of devices) sendHead(world, device)
    for (const message of world.bag.splice(0)) deliver(world, message)
    await quiet()
    world.clock.jump(61_000)
    await world.clock.advance(0)
    let moved = 0
    for (const task of taskIds) moved += await move(world, task)
    for (const task of taskIds) await world.host.commands.evaluate(task)
    await quiet()
    const now = JSON.stringify([world.sent.map(({ answer }) => answer), entriesOf(world)])
    if (moved === 0 && now === before && !world.sent.some(isWaiting)) return true
    before = now
  }
  return false
}

function isWaiting({ answer }: { answer: string | null }): boolean {
  return answer === null
}

/** Takes a turn one step further, if there is one that it can be done with. @returns how many */
async function move(world: World, task: string): Promise<number> {
  let moved = 0
  await attempt(
    moveOn(world, task).then((isMoved) => {
      moved = isMoved ? 1 : 0
    }),
  )
  return moved
}

async function moveOn(world: World, task: string): Promise<boolean> {
  await settleLost(world, task)
  const { status } = await world.host.tasks.show(task)
  if (status === 'queued') await begin(world, task)
  else if (status === 'running' || status === 'cancel_requested') await end(world, task, 'exit 0')
  else return false
  return true
}

function entriesOf(world: World): readonly Entry[] {
  try {
    return world.host.commands.entries()
  } catch {
    return []
  }
}
