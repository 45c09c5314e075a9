import type { Disk } from '../seams/disk.ts'

export interface TaskChanges {
  /** Says that a task may have changed. */
  changed(taskId: string): void
  /** Ends the watch and waits for what is under way. */
  close(): Promise<void>
}

/**
 * Watches the directory of the task files and says once, for each burst of changes, that a task may have changed.
 * A change that comes while one is being looked at is looked at afterwards. A watch that lost events means all.
 * @param look re-reads the task and does what follows; must not reject
 * @param lookAtAll the same for every task
 */
export function watchTasks(
  disk: Disk,
  directory: string,
  look: (taskId: string) => Promise<void>,
  lookAtAll: () => Promise<void>,
): TaskChanges {
  const running = new Map<string, Promise<void>>()
  const again = new Set<string>()
  let closed = false

  const run = async (key: string): Promise<void> => {
    try {
      do {
        again.delete(key)
        await (key === everyTask ? lookAtAll() : look(key))
      } while (again.has(key) && !closed)
    } finally {
      running.delete(key)
    }
  }

  const changed = (key: string): void => {
    if (closed) return
    if (running.has(key)) again.add(key)
    else running.set(key, run(key))
  }

  const stop = disk.watch(directory, (name) => {
    if (name === null) return changed(everyTask)
    const task = taskFileName.exec(name)?.[1]
    if (task !== undefined) changed(task)
  })

  return {
    changed,
    async close() {
      closed = true
      stop()
      await Promise.all(running.values())
    },
  }
}

const everyTask = ''
const taskFileName = /^([A-Za-z0-9][A-Za-z0-9._-]*)\.json$/
