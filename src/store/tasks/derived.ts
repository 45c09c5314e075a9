import type { Correction, Task } from './task.ts'

/** The number of the current turn, from 1. A turn cancelled before any run keeps its number. @see spec/turns.md §1 */
export function turnOf(task: Task): number {
  return (task.earlier?.length ?? 0) + 1
}

/**
 * The task with the run of one of its turns as its current one, so that whatever names that turn's run and trace is
 * found as it was then; null for a turn that has not begun. Pure.
 */
export function taskInTurn(task: Task, turn: number): Task | null {
  if (turn === turnOf(task)) return task
  const { earlier = [], ...rest } = task
  const run = earlier[turn - 1]
  if (run === undefined) return null
  return { ...rest, run, ...(turn === 1 ? {} : { earlier: earlier.slice(0, turn - 1) }) }
}

/** The revision at which the current turn began. */
export function turnStart(task: Task): number {
  return task.follow_ups?.at(-1)?.revision ?? 1
}

/** What the current turn is asked to do: the newer of the last correction and the last follow-up, else the intent. */
export function effectivePrompt(task: Task): string {
  const correction = task.corrections?.at(-1)
  const followUp = task.follow_ups?.at(-1)
  const newest = (correction?.revision ?? 0) > (followUp?.revision ?? 0) ? correction : followUp
  return newest?.prompt ?? task.intent.prompt
}

/** The name of the current turn's trace file in the store directory. */
export function traceFile(task: Task): string {
  return `${task.task_id}.${turnOf(task)}.atif.jsonl`
}

/** The session id of the current turn's trace. */
export function sessionId(task: Task): string {
  return `${task.task_id}-${turnOf(task)}`
}

/** The id of the current turn's one effect. */
export function effectId(task: Task): string {
  return `${task.task_id}:${turnOf(task)}:command`
}

/** The corrections that no admitted run has consumed yet, oldest first. @see spec/turns.md §4 */
export function unconsumedSteers(task: Task): Correction[] {
  const admitted = (task.run ?? task.earlier?.at(-1))?.admission.context.task_revision ?? 0
  return (task.corrections ?? []).filter((correction) => correction.revision > admitted)
}

/** Whether a correction is newer than what the current run was admitted with. @see spec/turns.md §2 */
export function isSuperseded(task: Task): boolean {
  const correction = task.corrections?.at(-1)
  if (correction === undefined || task.run === undefined) return false
  return correction.revision > task.run.admission.context.task_revision
}
