/** Lines that share writes. */
export interface GroupWriter {
  /** Adds a line to the next write, without asking for one. */
  add(line: Uint8Array): void
  /** Resolves when everything added so far is written: joins the write that has not begun yet. */
  flush(): Promise<void>
  /** Bytes added and not yet given to a write. */
  waitingBytes(): number
}

/**
 * Group commit: while one `write` runs, all that is added meanwhile joins the next.
 * @param write makes a block durable; a rejection reaches everyone who waited for that block
 */
export function groupWriter(write: (block: Uint8Array) => Promise<void>): GroupWriter {
  let waiting: Uint8Array[] = []
  let bytes = 0
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null

  const begin = (): Promise<void> => {
    next = null
    const block = Buffer.concat(waiting)
    waiting = []
    bytes = 0
    running = block.length === 0 ? Promise.resolve() : write(block)
    return running
  }

  return {
    add(line) {
      waiting.push(line)
      bytes += line.length
    },
    flush() {
      next ??= running.catch(() => undefined).then(begin)
      return next
    },
    waitingBytes: () => bytes,
  }
}
