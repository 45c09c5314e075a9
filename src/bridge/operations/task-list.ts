import { join } from 'node:path'
import { answerBytesMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { TaskItem, TaskList } from '../../protocol/task-pages.ts'
import { utf8Bytes } from '../../protocol/text.ts'
import type { Task } from '../../store/tasks/task.ts'
import type { TaskContext } from './context.ts'
import { isVisible, taskItem } from './task-item.ts'

/**
 * A page of a workspace's tasks, the one that changed last first; archived and local ones are left out.
 *
 * Refuses `forbidden` for a label that this host does not have and `malformed` for a cursor that it never gave.
 * @param bytesMax of the page's JSON
 * @see spec/wire.md §6
 */
export async function listTasks(
  context: TaskContext,
  query: { workspace: string; cursor: string | null; limit: number },
  bytesMax: number = answerBytesMax,
): Promise<TaskList> {
  const path = workspacePath(context, query.workspace)
  const after = query.cursor === null ? null : readCursor(query.cursor)
  const noteOf = await context.core.notes()
  const items: TaskItem[] = []
  for (const task of await context.tasks.list()) {
    if (task.intent.workspace.path !== path || !isVisible(task)) continue
    if (await context.archive.isArchived(task.task_id)) continue
    items.push(taskItem(context, task, query.workspace, await changedNs(context, task), noteOf))
  }
  items.sort((one, other) => (isBefore(placeOf(one), placeOf(other)) ? -1 : 1))
  const rest = after === null ? items : items.filter((item) => isBefore(after, placeOf(item)))
  return pageOf(rest, query.limit, bytesMax)
}

/** The folder of a workspace. Refuses `forbidden` for a label that this host does not have. */
export function workspacePath(context: Pick<TaskContext, 'settings'>, label: string): string {
  const workspace = context.settings().workspaces.find((kept) => kept.label === label)
  if (workspace === undefined) throw new Refusal('forbidden', 'no workspace has this label')
  return workspace.path
}

/** When the task last changed, Unix nanoseconds: the time of its file; null when the file is gone. */
export async function changedNs(
  context: Pick<TaskContext, 'disk' | 'tasks'>,
  task: Task,
): Promise<bigint | null> {
  const identity = await context.disk.identity(join(context.tasks.dir, 'task', `${task.task_id}.json`))
  return identity?.mtimeNs ?? null
}

interface Place {
  readonly at: number
  readonly task: string
}

function placeOf(item: TaskItem): Place {
  return { at: item.updated_at, task: item.task }
}

/** The order of the list: newest first, then by ID. */
function isBefore(one: Place, other: Place): boolean {
  return one.at === other.at ? one.task < other.task : one.at > other.at
}

function pageOf(rest: readonly TaskItem[], limit: number, bytesMax: number): TaskList {
  const items: TaskItem[] = []
  let bytes = 256
  for (const item of rest) {
    bytes += utf8Bytes(JSON.stringify(item)) + 1
    if (items.length === limit || (items.length > 0 && bytes > bytesMax)) break
    items.push(item)
  }
  const last = items.at(-1)
  const next = last === undefined || items.length === rest.length ? null : `${last.updated_at}.${last.task}`
  return { items, next }
}

function readCursor(cursor: string): Place {
  const match = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(cursor)
  if (match === null) throw new Refusal('malformed', 'not a cursor of this list', { field: 'query.cursor' })
  return { at: Number(match[1]), task: match[2] ?? '' }
}
