import { autostartSweepMs } from '../../limits.ts'
import { turnStart } from '../../store/tasks/derived.ts'
import type { Task } from '../../store/tasks/task.ts'
import type { HostCoreDeps } from '../core.ts'
import { isAlive, readIdentity } from '../supervise/process-identity.ts'
import { consider, reconsiderHeld } from './consider.ts'
import { programFault, reasonToSkip, reservingTask } from './eligibility.ts'
import { entryTurn, isFinalSkip } from './entry.ts'
import type { StartedTurn, WaitingTurn } from './fold.ts'
import { type AutostartJournal, openAutostartJournal } from './journal.ts'
import { launchTurn } from './launch-turn.ts'
import { noteFor } from './notes.ts'
import { isStillInForce, type PolicyInForce, policyInForce } from './policy.ts'
import { reviewTurn } from './review.ts'
import { taskOrNull } from './task-or-null.ts'
import { giveBack } from './unadmitted.ts'

/** Starts turns by themselves, as far as the owner's policy allows. Calls must not overlap. */
export interface Planner {
  /** Notes a task's current turn as eligible when a policy covers it. */
  consider(taskId: string, device: string | undefined): Promise<void>
  /** Considers every task that changed since the policy was made: the net for a service that died in between. */
  considerMissed(): Promise<void>
  /** Reviews what was started and starts what waits and has room. */
  drain(): Promise<void>
  /** Notes that a run was settled because its owner was gone. */
  settled(task: Task): Promise<void>
  /** Says why tasks wait, as things stand now. */
  notes(): Promise<NoteOf>
}

/**
 * Why a task waits, in words for a person; null when it does not.
 * @param changedNs when its file last changed, in nanoseconds of the file system; null when that is not known
 */
export type NoteOf = (task: Task, changedNs: bigint | null) => string | null

/** What the planner tells of a launched owner. */
export interface PlannerEvents {
  /** The owner of a task's turn has exited. */
  ownerEnded(taskId: string): void
}

interface Planning {
  readonly deps: HostCoreDeps
  readonly journal: AutostartJournal
  readonly events: PlannerEvents
  /** Why the last look at what waits started nothing, by task. */
  passing: Map<string, string>
  /** Owners that this process launched and that have not exited, by process ID. */
  readonly living: Set<number>
  /** When a task that was given back may be tried again, Unix milliseconds. */
  readonly notBefore: Map<string, number>
}

/** @see spec/execution.md §13 */
export function openPlanner(deps: HostCoreDeps, events: PlannerEvents): Planner {
  const planning: Planning = {
    deps,
    events,
    journal: openAutostartJournal(deps.disk, deps.clock, deps.home),
    passing: new Map(),
    living: new Set(),
    notBefore: new Map(),
  }
  return {
    async consider(taskId, device) {
      const inForce = await policyInForce(deps.disk, deps.home)
      const task = inForce === null ? null : await taskOrNull(deps.tasks, taskId)
      if (inForce !== null && task !== null) await consider(planning, inForce, task, device)
    },
    considerMissed: () => considerMissed(planning),
    drain: () => drain(planning),
    settled: (task) => noteSettled(planning, task),
    notes: () => notes(planning),
  }
}

async function considerMissed(planning: Planning): Promise<void> {
  const { deps } = planning
  const inForce = await policyInForce(deps.disk, deps.home)
  if (inForce === null) return
  for (const task of await deps.tasks.list()) await consider(planning, inForce, task, undefined)
}

async function notes({ deps, journal, passing }: Planning): Promise<NoteOf> {
  const facts = {
    inForce: await policyInForce(deps.disk, deps.home),
    state: await journal.state(),
    workspaces: await deps.workspaces(),
    passing,
  }
  return (task, changedNs) => noteFor(facts, task, changedNs)
}

async function drain(planning: Planning): Promise<void> {
  const { deps, journal } = planning
  const inForce = await policyInForce(deps.disk, deps.home)
  planning.passing = new Map()
  if (inForce === null) return
  await reconsiderHeld(planning, inForce)
  const { max_running } = inForce.policy
  let active = 0
  for (const turn of (await journal.state()).started) {
    if (await review(planning, turn)) active += 1
  }
  for (const turn of (await journal.state()).waiting) {
    if (active >= max_running) planning.passing.set(turn.task, 'waiting for a running turn to end')
    else if (await startWaiting(planning, inForce, turn)) active += 1
  }
}

/** Notes what became of a launched turn; whether it counts as running. */
async function review(planning: Planning, turn: StartedTurn): Promise<boolean> {
  const { deps, journal } = planning
  const task = await taskOrNull(deps.tasks, turn.task)
  const verdict = reviewTurn(turn, task, isOwnerAlive(planning, turn), deps.clock.nowMs())
  if (verdict.is === 'ended')
    await journal.append({ event: 'ended', ...entryTurn(turn), detail: verdict.detail })
  if (verdict.is === 'unadmitted' && task !== null) {
    const next = await giveBack(deps, journal, turn, task)
    // A task that moved meanwhile only needs a grant at its new revision; anything else is left for the sweep.
    if (next === 'later') planning.notBefore.set(turn.task, deps.clock.nowMs() + autostartSweepMs)
  }
  return verdict.is === 'active'
}

/** Starts one waiting turn or says why not; whether it now runs. */
async function startWaiting(planning: Planning, inForce: PolicyInForce, turn: WaitingTurn): Promise<boolean> {
  const { deps, passing, notBefore } = planning
  const { policy } = inForce
  const workspaces = await deps.workspaces()
  const task = await taskOrNull(deps.tasks, turn.task)
  const skip = reasonToSkip(turn, task, policy, workspaces)
  if (skip !== null || task === null) {
    return hold(planning, inForce, turn, { event: 'skipped', detail: skip ?? '' })
  }
  if ((notBefore.get(turn.task) ?? 0) > deps.clock.nowMs()) return false
  if ((await reservingTask(task, await deps.tasks.list())) !== null) {
    passing.set(turn.task, 'another task is still running in this project')
    return false
  }
  const fault = await programFault(policy, workspaces)
  if (fault !== null) return hold(planning, inForce, turn, fault)
  notBefore.delete(turn.task)
  return launch(planning, inForce, turn, task)
}

/** Decides against a waiting turn, unless the policy that says so was replaced meanwhile; never counts as running. */
async function hold(
  { deps, journal }: Planning,
  inForce: PolicyInForce,
  turn: WaitingTurn,
  against: { readonly event: 'skipped' | 'refused'; readonly detail: string },
): Promise<false> {
  if (!(await isStillInForce(deps.disk, deps.home, inForce))) return false
  await journal.append({ ...against, ...entryTurn(turn) })
  if (!isFinalSkip(against)) {
    deps.log.warn({ task: turn.task, reason: against.detail }, 'the auto-start policy did not start a turn')
  }
  return false
}

async function launch(
  planning: Planning,
  inForce: PolicyInForce,
  turn: WaitingTurn,
  task: Task,
): Promise<boolean> {
  const { deps, journal, events, passing, living } = planning
  const launched = await launchTurn(deps, inForce.policy, task)
  if (launched.is === 'later') passing.set(turn.task, 'waiting to be tried again')
  if (launched.is === 'refused') {
    return hold(planning, inForce, turn, { event: 'refused', detail: launched.detail })
  }
  if (launched.is !== 'launched') return false
  const { owner, grantDigest } = launched
  deps.log.info({ task: turn.task, owner: owner.pid }, 'the auto-start policy started a turn')
  living.add(owner.pid)
  void owner.exited.then(() => {
    living.delete(owner.pid)
    events.ownerEnded(turn.task)
  })
  await journal.append({
    event: 'started',
    ...entryTurn(turn),
    grant_digest: grantDigest,
    owner_process: owner.pid,
  })
  return true
}

/** An owner of ours is known by its exit; one of an earlier service only by its number. */
function isOwnerAlive({ living }: Planning, { ownerProcess }: StartedTurn): boolean {
  if (ownerProcess === null) return false
  if (living.has(ownerProcess)) return true
  const there = readIdentity(ownerProcess)
  return there !== null && isAlive(there)
}

async function noteSettled({ journal }: Planning, task: Task): Promise<void> {
  const turn = { task: task.task_id, start: turnStart(task) }
  const { started } = await journal.state()
  if (!started.some((one) => one.task === turn.task && one.start === turn.start)) return
  await journal.append({ event: 'ended', ...entryTurn(turn), detail: 'the owner process is gone' })
}
