import {
  summariesAtOnceMax,
  summariesOnTheWayMax,
  summaryEveryMs,
  summaryFreshSeconds,
  summaryRetryMs,
  summarySecondsMax,
  summaryTurnMs,
} from '../limits.ts'
import type { ActivitySummary } from '../protocol/bodies/activity-summary.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { summaryMailbox } from '../protocol/mailbox.ts'
import { isRefusal } from '../protocol/refusal.ts'
import type { PublishOutcome } from '../protocol/relay-session.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import type { Archive } from '../store/archive.ts'
import type { TaskStore } from '../store/tasks/store.ts'
import type { Task } from '../store/tasks/task.ts'
import { audience } from './access/audience.ts'
import type { AccessBook } from './access/book.ts'
import { type Log, reasonOf } from './log.ts'
import { headlineOf, isVisible, standingOf } from './operations/task-item.ts'
import { type Sealer, seal } from './seal.ts'
import { createTellings, type Tellings } from './tellings.ts'
import type { Told, ToldTask } from './told.ts'
import { createTurns } from './turns.ts'

/** One line about a task, for every device that may observe, each time its revision or phase changes. */
export interface Summaries {
  /** Says that a task may have changed; never rejects. */
  taskChanged(taskId: string): Promise<void>
  /** The same of every task: at the start, and when changes may have been missed. */
  anyChanged(): Promise<void>
  /** Where no record says what was told, takes all that is there as told. To be called before anything else. */
  begin(): Promise<void>
  /** Seals nothing more. */
  close(): void
}

export interface SummaryDeps {
  readonly clock: Clock
  readonly book: AccessBook
  readonly sealer: Sealer
  readonly tasks: Pick<TaskStore, 'show' | 'list'>
  readonly archive: Pick<Archive, 'isArchived'>
  readonly told: Told
  readonly log: Log
  publish(relay: string, event: NostrEvent, freshUntil: number, slot: string): Promise<PublishOutcome>
}

/**
 * A summary is sealed when it goes out, from the task and the access book as they are then: whoever lost `observe`
 * meanwhile gets nothing, and of several changes the newest wins. One that no relay took is sealed anew, until its
 * week is over. Archived tasks and local ones have none. When many devices are to be told of much, they are told one
 * after the other at a pace that leaves the host free to answer.
 * @see spec/wire.md §5
 */
export function createSummaries(deps: SummaryDeps): Summaries {
  const { clock, book, told, log } = deps
  const devices = new Map<string, Tellings>()
  const turns = createTurns(clock, { atOnce: summariesAtOnceMax, everyMs: summaryTurnMs })
  let closed = false

  const observers = () => audience(book.read(), nowSeconds(clock), 'observe')

  /** The task, if devices may see it now. */
  const seen = async (taskId: string): Promise<Task | null> => {
    try {
      const task = await deps.tasks.show(taskId)
      if (!isVisible(task)) return null
      if (!(await deps.archive.isArchived(taskId))) return task
      told.forget(taskId)
      return null
    } catch (error) {
      if (!isRefusal(error, 'not_found')) {
        log.warn('a task could not be read for a summary', { task: taskId, reason: reasonOf(error) })
      }
      return null
    }
  }

  /** Has every observer told of what is news of a task; `telling` is being told of it already. */
  const note = (task: Task, telling?: string): void => {
    if (!told.isNews(toldOf(task))) return
    const now = observers()
    for (const [device, tellings] of devices) {
      if (now.has(device)) continue
      tellings.close()
      devices.delete(device)
    }
    for (const device of now.keys()) if (device !== telling) tellingsOf(device).add(task.task_id)
  }

  const tellingsOf = (device: string): Tellings => {
    const known = devices.get(device)
    if (known !== undefined) return known
    const made = createTellings(clock, bounds, (taskId) =>
      turns.take(`${device} ${taskId}`, () => tell(device, taskId)),
    )
    devices.set(device, made)
    return made
  }

  /** @returns whether it is done with; false when the task is to be told once more */
  const tell = async (device: string, taskId: string): Promise<boolean> => {
    const task = await seen(taskId)
    if (task === null || closed) return true
    const relay = observers().get(device)
    if (relay === undefined) return true
    note(task, device)
    const now = nowSeconds(clock)
    const event = sealSummary(deps, device, task, now)
    const sent = await deps.publish(relay, event, now + summaryFreshSeconds, `summary ${taskId} ${device}`)
    return sent.outcome !== 'unknown' || closed
  }

  const look = async (taskId: string): Promise<void> => {
    const task = await seen(taskId)
    if (task !== null && !closed) note(task)
  }

  return {
    async begin() {
      if (!told.isFirst) return
      try {
        for (const task of (await deps.tasks.list()).filter(isVisible)) told.isNews(toldOf(task))
      } catch (error) {
        failed(log, undefined, error)
      }
    },
    taskChanged: (taskId) => look(taskId).catch((error: unknown) => failed(log, taskId, error)),
    async anyChanged() {
      try {
        const tasks = await deps.tasks.list()
        for (const { task_id } of tasks.filter(isVisible)) await look(task_id)
      } catch (error) {
        failed(log, undefined, error)
      }
    },
    close() {
      closed = true
      for (const tellings of devices.values()) tellings.close()
      turns.close()
    },
  }
}

const bounds = {
  everyMs: summaryEveryMs,
  retryMs: summaryRetryMs,
  giveUpMs: summarySecondsMax * 1_000,
  onTheWayMax: summariesOnTheWayMax,
}

function toldOf(task: Task): ToldTask {
  return { task: task.task_id, revision: task.revision, phase: standingOf(task).phase }
}

function sealSummary({ sealer }: SummaryDeps, device: string, task: Task, now: number) {
  const body: ActivitySummary = {
    v: 'openagents.activity-summary.v1',
    requires: [],
    host: sealer.signer.publicKey,
    subject: { kind: 'task', id: task.task_id },
    sequence: task.revision,
    ...standingOf(task),
    headline: headlineOf(task),
    updated_at: now,
  }
  const mailbox = summaryMailbox(sealer.keyOf(device))
  return seal(sealer, device, mailbox, body, now, now + summarySecondsMax)
}

function failed(log: Log, task: string | undefined, error: unknown): void {
  log.warn('a summary could not be made', {
    ...(task === undefined ? {} : { task }),
    reason: reasonOf(error),
  })
}
