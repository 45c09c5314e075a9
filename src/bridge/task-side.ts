import { type DeviceCommands, openDeviceCommands } from '../commands/device-commands.ts'
import type { Sender } from '../commands/journal-entry.ts'
import { singleFlight } from '../commands/single-flight.ts'
import { type HostCore, openHostCore } from '../host/core.ts'
import type { Launcher } from '../host/supervise/launch-owner.ts'
import type { Clock } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import { type Archive, openArchive } from '../store/archive.ts'
import { openTaskStore, type TaskStore } from '../store/tasks/store.ts'
import { type Log, reasonOf } from './log.ts'
import type { HomePaths } from './paths.ts'
import { reopeningStore } from './reopening-store.ts'
import type { Workspace } from './serve-settings.ts'
import { type TaskChanges, watchTasks } from './task-changes.ts'

/** The host's side of tasks as the service holds it: store, archive, host core, device commands, the watch. */
export interface TaskSide {
  readonly tasks: TaskStore
  readonly archive: Archive
  readonly core: HostCore
  readonly commands: DeviceCommands
  /** Says that a task may have changed. */
  changed(taskId: string): void
  /** Ends what is over, decides what waits, and plans what may start: the first thing after opening. */
  settleIn(): Promise<void>
  close(): Promise<void>
}

export interface TaskSideDeps {
  readonly disk: Disk
  readonly clock: Clock
  readonly paths: HomePaths
  readonly launcher: Launcher
  readonly log: Log
  workspaces(): readonly Workspace[]
  /** Whether a sender of commands still holds `operate`. */
  standing(sender: Sender): boolean
  /** Told of a task that may have changed, once what waits for it was decided; null: of all. Never rejects. */
  evaluated(taskId: string | null): void
}

/**
 * Opens the task side of an initialised home. A changed task file, an ended turn and a continued one wake the
 * evaluation and the planning of that task at once.
 */
export async function openTaskSide(deps: TaskSideDeps): Promise<TaskSide> {
  const { disk, clock, paths, log } = deps
  const tasks = await reopeningStore(() => openTaskStore(disk, clock, paths.tasks), log)
  const archive = openArchive(disk, paths.tasks)
  let changes: TaskChanges | null = null
  const changed = (taskId: string): void => changes?.changed(taskId)
  const core = openHostCore({
    disk,
    clock,
    home: paths.home,
    tasks,
    launcher: deps.launcher,
    workspaces: deps.workspaces,
    ended: changed,
    log: {
      info: (facts, message) => log.info(message, facts),
      warn: (facts, message) => log.warn(message, facts),
    },
  })
  const commands = await openDeviceCommands({
    disk,
    clock,
    dir: paths.tasks,
    tasks,
    log,
    steeringOf: core.steeringOf,
    standing: deps.standing,
    archived: archive.isArchived,
    settle: async (taskId) => void (await core.settle(taskId)),
    continued: (taskId) => void core.plan(taskId),
  })
  // Planning takes its turn behind other tasks' turns: the next change of a task is not kept waiting for it.
  const plans = singleFlight(core.plan)
  const sweeps = singleFlight(core.sweep)
  const look = async (taskId: string): Promise<void> => {
    await commands.evaluate(taskId)
    deps.evaluated(taskId)
    void plans.ask(taskId)
  }
  const lookAtAll = async (): Promise<void> => {
    await commands.evaluateAll()
    deps.evaluated(null)
    void sweeps.ask('')
  }
  changes = watchTasks(disk, paths.taskFiles, look, lookAtAll)
  return {
    tasks,
    archive,
    core,
    commands,
    changed,
    async settleIn() {
      await core.settleAll().catch((error: unknown) => {
        log.warn('not every run could be settled', { reason: reasonOf(error) })
      })
      await lookAtAll()
      await sweeps.idle()
    },
    async close() {
      await changes?.close()
      await commands.close()
      await core.close()
      await tasks.close()
    },
  }
}
