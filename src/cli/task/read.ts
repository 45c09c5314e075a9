import type { Task } from '../../store/tasks/task.ts'
import { withStore } from '../deps.ts'
import type { Door } from '../door.ts'
import { knownTask } from '../known-task.ts'
import type { Answer } from '../output.ts'
import { jsonLine, printable } from '../printable.ts'

const titleWide = 60

interface StoreOption {
  store?: string | undefined
}

/** Every task, in the order of their ids. @see spec/task-cli.md */
export async function list(door: Door, options: StoreOption): Promise<Answer> {
  const tasks = await withStore(door, options.store, (store) => store.list(), { readOnly: true })
  return { json: tasks, text: listText(tasks) }
}

/** One task whole. Refuses `not_found`. */
export async function show(door: Door, id: string, options: StoreOption): Promise<Answer> {
  const whole = await knownTask(door, options.store, id)
  const task = await withStore(door, options.store, (store) => store.show(whole), { readOnly: true })
  return { json: task, text: jsonLine(task) }
}

/** The table of `task list`: a count, then one line a task. */
export function listText(tasks: readonly Task[]): string {
  if (tasks.length === 0) return 'no tasks\n'
  const lines = tasks.map((task) => {
    const id = printable(task.task_id.slice(0, 12)).padEnd(12)
    return `${id}  ${task.status.padEnd(9)}  ${task.execution.padEnd(10)}  ${titleOf(task)}`
  })
  return `${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}\n${lines.join('\n')}\n`
}

function titleOf({ intent }: Task): string {
  const title = intent.title === null || intent.title === undefined ? intent.prompt : intent.title
  const characters = Array.from(title.replace(/\s+/g, ' ').trim())
  const cut =
    characters.length > titleWide ? `${characters.slice(0, titleWide - 1).join('')}…` : characters.join('')
  return printable(cut)
}
