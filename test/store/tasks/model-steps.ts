import { expect } from 'vitest'
import { isRefusal } from '../../../src/protocol/refusal.ts'
import type { HostEvent } from '../../../src/store/tasks/host-event.ts'
import type { TaskStore } from '../../../src/store/tasks/store.ts'
import type { Task } from '../../../src/store/tasks/task.ts'
import type { EventKind, Model } from './model.ts'
import { admitted, effectIntent, resultEvent, words } from './samples.ts'

interface Compared {
  readonly store: TaskStore
  readonly models: Map<string, Model>
  readonly seen: Set<string>
}

/** The host event of a kind that fits a task, with the epoch of who records it. */
export function eventFor(
  { kind, exit, clear }: { kind: EventKind; exit: number; clear: boolean },
  current: Task | null,
): { event: HostEvent; epoch: number } {
  const epoch = current?.run?.epoch ?? 1
  const ending = { exit_code: exit, ending: `exit ${exit}`, group_clear: clear }
  if (kind === 'lose') return { event: { type: 'owner_lost' }, epoch: epoch + 1 }
  if (kind === 'end' || current === null) return { event: resultEvent(ending), epoch }
  if (kind === 'settle') {
    return { event: resultEvent({ ...ending, ending: 'owner_process_ended', exit_code: exit }), epoch }
  }
  return kind === 'admit' ? { event: admitted(current), epoch: 1 } : { event: effectIntent(current), epoch }
}

/** Proves that the store's tasks are the model's, and notes the words they stand at. */
export async function compare({ store, models, seen }: Compared): Promise<void> {
  const tasks = await store.list()
  expect(tasks.map((one) => one.task_id)).toEqual([...models.keys()].sort())
  for (const one of tasks) {
    const model = models.get(one.task_id)
    expect(words(one)).toEqual([model?.revision, model?.status, model?.execution, model?.checks])
    expect(one.earlier?.length ?? 0).toBe(model?.runs)
    for (const word of words(one)) seen.add(String(word))
  }
}

/** The code that an action is refused with; null when it is not. */
export async function codeOf(action: Promise<unknown>): Promise<string | null> {
  try {
    await action
    return null
  } catch (error) {
    if (isRefusal(error)) return error.code
    throw error
  }
}
