import type { Clock } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import type { TaskStore } from '../store/tasks/store.ts'
import type { Task } from '../store/tasks/task.ts'
import type { SteeringRow } from './steering.ts'
import type { Launcher } from './supervise/launch-owner.ts'
import type { Workspace } from './workspace.ts'

/** Where the host core says what a person may want to know; never a prompt, a title or command text. */
export interface HostLog {
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
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
  /** Why a task that is to start by itself waits, in words for a person; null when it does not wait. */
  noteOf(taskId: string): string | null
  /** Stops the sweep and waits for what is under way. Owners live on. */
  close(): Promise<void>
}
