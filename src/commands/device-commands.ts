import type { SteeringRow } from '../host/steering.ts'
import { commandSweepMs, tasksPerRound } from '../limits.ts'
import type { QueueEdit } from '../protocol/operations/commands.ts'
import type { QueueView } from '../protocol/outcomes.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { type Clock, fewAtOnce, type Timer } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import type { TaskStore } from '../store/tasks/store.ts'
import type { Task } from '../store/tasks/task.ts'
import { type EvaluateDeps, evaluateTask } from './evaluate.ts'
import { createJournal } from './journal.ts'
import { type CommandRequest, type Entry, type EntryState, entryKey, type Sender } from './journal-entry.ts'
import { createLapses } from './lapses.ts'
import type { CommandLog } from './log.ts'
import { createQueueEditor } from './queue-edit.ts'
import { createRecorder } from './record.ts'
import { singleFlight } from './single-flight.ts'
import { createWaiters } from './waiters.ts'

/** What the device commands of one task store need from around them. */
export interface DeviceCommandsDeps {
  readonly disk: Disk
  readonly clock: Clock
  /** The task store's directory. */
  readonly dir: string
  readonly tasks: TaskStore
  readonly log: CommandLog
  steeringOf(task: Task): SteeringRow
  /** Whether a sender still holds `operate`, under the recorded grant or a renewal of it. */
  standing(sender: Sender): boolean
  archived(taskId: string): Promise<boolean>
  /** Ends a run of this task whose process is gone. */
  settle(taskId: string): Promise<void>
  /** Told of every turn that a command continued. */
  continued(taskId: string): void
}

/** The commands that devices sent, and what becomes of them. @see spec/commands.md */
export interface DeviceCommands {
  /** Records a command and carries it out as far as it goes now. @see record.ts for what it refuses */
  record(sender: Sender, request: CommandRequest): Promise<EntryState>
  /** Looks at or edits a task's queue. @see queue-edit.ts for what it refuses */
  edit(sender: Sender, taskId: string, edit: QueueEdit): Promise<QueueView>
  /** To be called when anything about a task may have changed. Never refuses: what stays undecided is tried again. */
  evaluate(taskId: string): Promise<void>
  /** The same for every task with undecided commands: at the start of the service, and after a revocation. */
  evaluateAll(): Promise<void>
  /** The journal, in its order. Refuses `unavailable`. */
  entries(taskId?: string): readonly Entry[]
  /** Finishes what is under way and writes what is only marked. */
  close(): Promise<void>
}

/**
 * Opens the device commands of a task store. A journal that is missing or malformed does not keep it from opening:
 * it then refuses every command as `unavailable`, until the file is put right.
 *
 * From then on a lapsed lease evaluates its task at once, and every 5 s a sweep evaluates all of them, as a net.
 */
export async function openDeviceCommands(deps: DeviceCommandsDeps): Promise<DeviceCommands> {
  const journal = createJournal(deps)
  const waiters = createWaiters()
  const endedIt = new Set<string>()
  let sweep: Timer | null = null
  let closed = false

  const evaluation: EvaluateDeps = { ...deps, journal }
  const turn = fewAtOnce(tasksPerRound)
  const lanes = singleFlight(async (taskId) => {
    try {
      // Many tasks at once, as after an outage, do not hold up everything else until the last is decided.
      await turn()
      await journal.ready()
      const settled = await evaluateTask(evaluation, taskId, {
        isNew: (entry) => waiters.waiting(entry) !== null,
        endedIt: (entry) => endedIt.has(keyOf(entry)),
        progress: () => answer(taskId, isSettled),
      })
      // In doubt: those who wait are told where their commands are, and they are finished later.
      if (!settled) {
        await journal.commit()
        answer(taskId, () => true)
      }
    } catch (error) {
      for (const entry of waiters.ofTask(taskId)) {
        endedIt.delete(keyOf(entry))
        waiters.reject(entry, error)
      }
      throw error
    }
  })

  const answer = (taskId: string, isReady: (entry: Entry) => boolean): void => {
    for (const waited of waiters.ofTask(taskId)) {
      const entry = journal.find(waited.sender.device, waited.request.command)
      if (entry === null) {
        // The journal had to be read again, and does not have it.
        endedIt.delete(keyOf(waited))
        waiters.reject(waited, new Refusal('unavailable', 'the command could not be recorded'))
        continue
      }
      if (!isReady(entry) || !journal.isDurable(entry)) continue
      endedIt.delete(keyOf(entry))
      waiters.resolve(entry, entry.state)
    }
  }

  const evaluate = async (taskId: string): Promise<void> => {
    if (closed) return
    try {
      await journal.ready()
      // The journal may have been read again, or a lease may live a little longer than its timer ran.
      lapses.expect(taskId, journal.lease(taskId))
      // Somebody may wait for a command that an edit has just decided.
      const isAwaited = waiters.ofTask(taskId).length > 0
      if (isAwaited || journal.undecided(taskId).length > 0) await lanes.ask(taskId)
    } catch (error) {
      const code = isRefusal(error) ? error.code : 'unexpected'
      deps.log.warn('the commands of a task could not be evaluated', { task: taskId, code })
    }
  }

  const evaluateAll = async (): Promise<void> => {
    if (closed) return
    try {
      await journal.ready()
      for (const lease of journal.leases()) lapses.expect(lease.task, lease)
      await Promise.all(journal.undecidedTasks().map(evaluate))
    } catch (error) {
      // The journal has said so itself; a write that fails meanwhile closes it as well.
      if (!isRefusal(error)) throw error
    }
  }

  const lapses = createLapses(deps.clock, (taskId) => void evaluate(taskId))

  const sweepLater = (): void => {
    sweep = deps.clock.after(commandSweepMs, () => {
      void evaluateAll().finally(() => {
        if (!closed) sweepLater()
      })
    })
  }

  const record = createRecorder({
    ...deps,
    journal,
    settled: (taskId) => void evaluate(taskId),
    evaluating: (entry) => waiters.waiting(entry),
    evaluated(entry, ended) {
      if (ended) endedIt.add(keyOf(entry))
      const state = waiters.wait(entry)
      // Its failure reaches those who wait by itself.
      lanes.ask(entry.request.task).catch(() => undefined)
      return state
    },
  })
  const edit = createQueueEditor({ ...deps, journal, evaluate, leased: lapses.expect })

  await journal.ready().catch(() => undefined)
  sweepLater()

  return {
    record,
    edit,
    evaluate,
    evaluateAll,
    entries: (taskId) =>
      journal.entries().filter((entry) => taskId === undefined || entry.request.task === taskId),
    async close() {
      if (closed) return
      closed = true
      sweep?.cancel()
      lapses.close()
      await lanes.idle()
      await journal.close()
    },
  }
}

function isSettled({ state }: Entry): boolean {
  return state.state === 'held' || state.state === 'done'
}

function keyOf(entry: Entry): string {
  return entryKey(entry.sender.device, entry.request.command)
}
