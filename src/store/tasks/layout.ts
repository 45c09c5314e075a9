import { join } from 'node:path'

/** Where everything of a task store lies. @see spec/store.md §6 */
export interface StoreLayout {
  readonly dir: string
  readonly marker: string
  readonly lock: string
  readonly identities: string
  readonly workspacesLock: string
  readonly tasks: string
  /** What stores before v3 kept, and what they left behind. */
  readonly legacy: string
  readonly legacyPending: string
  taskFile(taskId: string): string
  taskLock(taskId: string): string
  ownerLock(taskId: string): string
}

/** The layout of the store in `dir`, an absolute path. */
export function storeLayout(dir: string): StoreLayout {
  const tasks = join(dir, 'task')
  return {
    dir,
    marker: join(dir, 'store.json'),
    lock: join(dir, 'tasks.lock'),
    identities: join(dir, 'identities.log'),
    workspacesLock: join(dir, 'workspaces.lock'),
    tasks,
    legacy: join(dir, 'tasks.json'),
    legacyPending: join(dir, '.tasks.pending'),
    taskFile: (taskId) => join(tasks, `${taskId}.json`),
    taskLock: (taskId) => join(tasks, `${taskId}.lock`),
    ownerLock: (taskId) => join(dir, `owner-${taskId}.lock`),
  }
}
