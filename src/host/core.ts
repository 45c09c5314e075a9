import { autostartSweepMs, settleAgainMs, settleTriesMax } from '../limits.ts'
import { Refusal } from '../protocol/refusal.ts'
import { type Clock, pause, type Timer } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import type { TaskStore } from '../store/tasks/store.ts'
import type { Task } from '../store/tasks/task.ts'
import { type NoteOf, openPlanner, type Planner } from './autostart/planner.ts'
import { isSettleable, settle, settleAll } from './settle.ts'
import { type SteeringRow, steeringRow } from './steering.ts'
import type { Launcher } from './supervise/launch-owner.ts'
import type { Workspace } from './workspace.ts'

/** What a line of the host core carries beside its message. */
export interface HostFacts {
  readonly task?: string
  /** The process ID of the owner of a turn. */
  readonly owner?: number
  readonly code?: string
  readonly reason?: string
}

/** Where the host core says what a person may want to know; never a prompt, a title or command text. */
export interface HostLog {
  info(facts: HostFacts, message: string): void
  warn(facts: HostFacts, message: string): void
}

export interface HostCoreDeps {
  readonly disk: Disk
  readonly clock: Clock
  /** The home directory, whose `host/` holds the auto-start policy and journal. */
  readonly home: string
  /** The service's own open store. */
  readonly tasks: TaskStore
  readonly launcher: Launcher
  /** The workspaces as they are configured now. */
  workspaces(): readonly Workspace[] | Promise<readonly Workspace[]>
  /** Called when an owner that this core launched has exited, and for every run that a sweep ended. */
  ended(taskId: string): void
  readonly log: HostLog
}

/** What the service holds of the host: auto-start, settling, steering. */
export interface HostCore {
  /**
   * Considers a task that was created, continued or changed: under a policy that covers it, its current turn is
   * started at once or waits for room. Never throws; cheap when there is nothing to do.
   * @param device who asked, for the auto-start journal
   */
  plan(taskId: string, device?: string): Promise<void>
  /** Settles every run and starts what waits. Runs by itself every 10 s. Never throws. */
  sweep(): Promise<void>
  /** Ends the record of a task's run if its owner and processes are gone; null when there was nothing to end. */
  settle(taskId: string): Promise<Task | null>
  /** Settles every task that it can and gives those that it ended. */
  settleAll(): Promise<Task[]>
  steeringOf(task: Task): SteeringRow
  /** Says why queued tasks wait, as things stand now: asked once for a whole list. */
  notes(): Promise<NoteOf>
  /** Stops the sweep and waits for what is under way. Owners live on. */
  close(): Promise<void>
}

/**
 * Opens the host core. It sweeps by itself every 10 s; the caller runs the first sweep when it is ready to hear of
 * ended turns.
 */
export function openHostCore(deps: HostCoreDeps): HostCore {
  const line = queueOfOne()
  const say = (error: unknown) =>
    deps.log.warn(factsOf(error), 'the host core could not finish; the sweep tries again')
  const inTurn = (work: () => Promise<void>): Promise<void> => line.run(work).catch(say)

  const planner: Planner = openPlanner(deps, {
    ownerEnded: (taskId) => {
      void settleSoon(deps, taskId)
        .catch(() => null)
        .then((settled) =>
          inTurn(async () => {
            await noteSettled(settled)
            deps.ended(taskId)
            await planner.drain()
          }),
        )
    },
  })
  const noteSettled = async (task: Task | null) => {
    if (task !== null) await planner.settled(task)
  }
  const sweep = () =>
    inTurn(async () => {
      const ended = await settleAll(deps)
      for (const task of ended) {
        await noteSettled(task)
        deps.ended(task.task_id)
      }
      await planner.considerMissed()
      await planner.drain()
    })
  const timer = every(deps.clock, autostartSweepMs, sweep)

  return {
    plan: (taskId, device) =>
      inTurn(async () => {
        await planner.consider(taskId, device)
        await planner.drain()
      }),
    sweep,
    settle: (taskId) => settle(deps, taskId),
    settleAll: () => settleAll(deps),
    steeringOf: (task) => steeringRow(task.intent.configuration.adapter),
    notes: planner.notes,
    async close() {
      timer.cancel()
      await line.close()
    },
  }
}

/** Settles a run whose owner has just exited: what it ran may need a moment more to be gone. */
async function settleSoon(deps: HostCoreDeps, taskId: string): Promise<Task | null> {
  for (let tries = 1; ; tries += 1) {
    const settled = await settle(deps, taskId)
    if (settled !== null || tries === settleTriesMax) return settled
    if (!isSettleable(await deps.tasks.show(taskId))) return null
    await pause(deps.clock, settleAgainMs)
  }
}

/** Runs work one piece after another; nothing new once it is closed. */
function queueOfOne(): { run(work: () => Promise<void>): Promise<void>; close(): Promise<void> } {
  let last: Promise<void> = Promise.resolve()
  let closed = false
  return {
    run(work) {
      const next = last.then(async () => {
        if (!closed) await work()
      })
      last = next.catch(() => {})
      return next
    },
    async close() {
      closed = true
      await last
    },
  }
}

/** Runs `work` again and again, the pause counted from its end. */
function every(clock: Clock, ms: number, work: () => Promise<void>): Timer {
  let stopped = false
  let timer: Timer | null = null
  const arm = () => {
    if (stopped) return
    timer = clock.after(ms, () => void work().then(arm))
  }
  arm()
  return {
    cancel() {
      stopped = true
      timer?.cancel()
    },
  }
}

/** A refusal's words are for people; of anything else only where it came from is said. */
function factsOf(error: unknown): HostFacts {
  if (error instanceof Refusal) return { code: error.code, reason: error.message }
  const frames =
    error instanceof Error ? (error.stack ?? '').split('\n').filter((text) => /^\s+at /.test(text)) : []
  const name = error instanceof Error ? error.name : typeof error
  return { reason: [name, ...frames.slice(0, 4).map((frame) => frame.trim())].join(' ') }
}
