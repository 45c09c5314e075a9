import { autostartSweepMs } from '../../limits.ts'
import { isRefusal } from '../../protocol/refusal.ts'
import { turnStart } from '../../store/tasks/derived.ts'
import type { Task } from '../../store/tasks/task.ts'
import type { HostCoreDeps } from '../core.ts'
import { isAlive, readIdentity } from '../supervise/process-identity.ts'
import { coveringLabel, isEngineOf, programFault, reasonToSkip, reservingTask } from './eligibility.ts'
import { entryTurn } from './entry.ts'
import type { StartedTurn, WaitingTurn } from './fold.ts'
import { type AutostartJournal, openAutostartJournal } from './journal.ts'
import { launchTurn } from './launch-turn.ts'
import { type AutostartPolicy, readPolicy } from './policy.ts'
import { reviewTurn } from './review.ts'
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
  /** Why a task waits, in words for a person. */
  noteOf(taskId: string): string | null
}

/** What the planner tells of a launched owner. */
export interface PlannerEvents {
  /** The owner of a task's turn has exited. */
  ownerEnded(taskId: string): void
}

interface Planning {
  readonly deps: HostCoreDeps
  readonly journal: AutostartJournal
  readonly events: PlannerEvents
  notes: Map<string, string>
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
    notes: new Map(),
    living: new Set(),
    notBefore: new Map(),
  }
  return {
    consider: (taskId, device) => consider(planning, taskId, device),
    considerMissed: () => considerMissed(planning),
    drain: () => drain(planning),
    settled: (task) => noteSettled(planning, task),
    noteOf: (taskId) => planning.notes.get(taskId) ?? null,
  }
}

async function consider(
  { deps, journal }: Planning,
  taskId: string,
  device: string | undefined,
): Promise<void> {
  const policy = await readPolicy(deps.disk, deps.home)
  if (policy === null || !policy.enabled) return
  const task = await taskOrNull(deps, taskId)
  if (task === null || task.status !== 'queued' || task.run !== undefined || !isEngineOf(task, policy)) return
  const workspace = coveringLabel(task, policy, await deps.workspaces())
  const turn = { task: taskId, start: turnStart(task) }
  if (workspace === null || (await journal.state()).knows(turn)) return
  await journal.append({
    event: 'eligible',
    ...entryTurn(turn),
    ...(device === undefined ? {} : { device }),
    workspace,
  })
}

async function considerMissed(planning: Planning): Promise<void> {
  const { deps } = planning
  const policy = await readPolicy(deps.disk, deps.home)
  if (policy === null || !policy.enabled) return
  for (const { task_id, status } of await deps.tasks.list()) {
    if (status !== 'queued') continue
    // What waited already when the policy was made was not meant by it.
    const file = await deps.disk.identity(`${deps.tasks.dir}/task/${task_id}.json`)
    const changedAtMs = file === null ? 0 : Number(file.mtimeNs / 1_000_000n)
    if (changedAtMs >= policy.changed_at * 1000) await consider(planning, task_id, undefined)
  }
}

async function drain(planning: Planning): Promise<void> {
  const { deps, journal } = planning
  const policy = await readPolicy(deps.disk, deps.home)
  planning.notes = new Map()
  if (policy === null || !policy.enabled) return
  let active = 0
  for (const turn of (await journal.state()).started) {
    if (await review(planning, turn)) active += 1
  }
  for (const turn of (await journal.state()).waiting) {
    if (active >= policy.max_running) planning.notes.set(turn.task, 'waiting for a running turn to end')
    else if (await startWaiting(planning, policy, turn)) active += 1
  }
}

/** Notes what became of a launched turn; whether it counts as running. */
async function review(planning: Planning, turn: StartedTurn): Promise<boolean> {
  const { deps, journal } = planning
  const task = await taskOrNull(deps, turn.task)
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
async function startWaiting(
  planning: Planning,
  policy: AutostartPolicy,
  turn: WaitingTurn,
): Promise<boolean> {
  const { deps, journal, notes, notBefore } = planning
  const workspaces = await deps.workspaces()
  const task = await taskOrNull(deps, turn.task)
  const skip = reasonToSkip(turn, task, policy, workspaces)
  if (skip !== null || task === null) {
    await journal.append({ event: 'skipped', ...entryTurn(turn), detail: skip ?? '' })
    return false
  }
  if ((notBefore.get(turn.task) ?? 0) > deps.clock.nowMs()) {
    notes.set(turn.task, 'waiting to be tried again')
    return false
  }
  if ((await reservingTask(task, await deps.tasks.list())) !== null) {
    notes.set(turn.task, 'another task is still running in this project')
    return false
  }
  const fault = await programFault(policy, workspaces)
  if (fault !== null) {
    await journal.append({ ...fault, ...entryTurn(turn) })
    return false
  }
  notBefore.delete(turn.task)
  return launch(planning, policy, turn, task)
}

async function launch(
  { deps, journal, events, notes, living }: Planning,
  policy: AutostartPolicy,
  turn: WaitingTurn,
  task: Task,
): Promise<boolean> {
  const launched = await launchTurn(deps, policy, task)
  if (launched.is === 'later') notes.set(turn.task, 'waiting to be tried again')
  if (launched.is === 'refused') {
    await journal.append({ event: 'refused', ...entryTurn(turn), detail: launched.detail })
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

async function taskOrNull({ tasks }: HostCoreDeps, taskId: string): Promise<Task | null> {
  try {
    return await tasks.show(taskId)
  } catch (error) {
    if (isRefusal(error, 'not_found')) return null
    throw error
  }
}
