import { type Entry, type EntryState, entryKey } from './journal-entry.ts'

/** Those who recorded a command and wait to hear what became of it. */
export interface Waiters {
  /** Waits for an entry that nobody waits for yet. */
  wait(entry: Entry): Promise<EntryState>
  /** The wait that is on for an entry, if any. */
  waiting(entry: Entry): Promise<EntryState> | null
  /** The entries of a task that somebody waits for. */
  ofTask(task: string): Entry[]
  resolve(entry: Entry, state: EntryState): void
  reject(entry: Entry, cause: unknown): void
}

interface Wait {
  readonly entry: Entry
  readonly promise: Promise<EntryState>
  readonly resolve: (state: EntryState) => void
  readonly reject: (cause: unknown) => void
}

export function createWaiters(): Waiters {
  const tasks = new Map<string, Map<string, Wait>>()

  const find = (entry: Entry): Wait | undefined => tasks.get(entry.request.task)?.get(keyOf(entry))

  const take = (entry: Entry): Wait | undefined => {
    const wait = find(entry)
    const waits = tasks.get(entry.request.task)
    waits?.delete(keyOf(entry))
    if (waits?.size === 0) tasks.delete(entry.request.task)
    return wait
  }

  return {
    wait(entry) {
      const { promise, resolve, reject } = openPromise()
      const waits = tasks.get(entry.request.task) ?? new Map<string, Wait>()
      tasks.set(entry.request.task, waits)
      waits.set(keyOf(entry), { entry, promise, resolve, reject })
      return promise
    },
    waiting: (entry) => find(entry)?.promise ?? null,
    ofTask: (task) => [...(tasks.get(task)?.values() ?? [])].map((wait) => wait.entry),
    resolve: (entry, state) => take(entry)?.resolve(state),
    reject: (entry, cause) => take(entry)?.reject(cause),
  }
}

function openPromise(): Omit<Wait, 'entry'> {
  let settle: Omit<Wait, 'entry' | 'promise'> | null = null
  const promise = new Promise<EntryState>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return {
    promise,
    resolve: (state) => settle?.resolve(state),
    reject: (cause) => settle?.reject(cause),
  }
}

function keyOf(entry: Entry): string {
  return entryKey(entry.sender.device, entry.request.command)
}
