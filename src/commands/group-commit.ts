/** Changes that share writes. */
export interface GroupCommit {
  /** Resolves once everything up to `version` is durable; joins the write that has not begun yet. */
  until(version: number): Promise<void>
  /** The newest version known to be durable. */
  durable(): number
  /** After a reload: what was read is durable. */
  restart(version: number): void
}

interface Waiter {
  readonly version: number
  resolve(): void
  reject(cause: unknown): void
}

/**
 * Group commit: one write at a time, and whatever arrives while it is syncing joins the next.
 * @param write makes the state of its own choosing durable, as late as it can, and says which version that was; a
 * rejection reaches everyone who waits, since what is on disk is then in doubt
 * @see spec/commands.md §6
 */
export function groupCommit(write: () => Promise<number>): GroupCommit {
  let durable = 0
  let waiting: Waiter[] = []
  let running = false

  const run = async (): Promise<void> => {
    running = true
    try {
      while (waiting.length > 0) {
        durable = Math.max(durable, await write())
        const served = waiting.filter((waiter) => waiter.version <= durable)
        waiting = waiting.filter((waiter) => waiter.version > durable)
        for (const waiter of served) waiter.resolve()
      }
    } catch (cause) {
      const failed = waiting
      waiting = []
      for (const waiter of failed) waiter.reject(cause)
    } finally {
      running = false
    }
  }

  return {
    until(version) {
      if (version <= durable) return Promise.resolve()
      return new Promise((resolve, reject) => {
        waiting.push({ version, resolve, reject })
        if (!running) void run()
      })
    },
    durable: () => durable,
    restart(version) {
      durable = version
    },
  }
}
