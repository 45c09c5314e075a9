/** Something that a test holds up and lets go on. It is open until it is closed. */
export interface Gate {
  close(): void
  open(): void
  /** Resolves when somebody waits at the closed gate. */
  reached(): Promise<void>
  /** Goes through, once it is open. */
  pass(): Promise<void>
}

export function gate(): Gate {
  let closed: Promise<void> | null = null
  let release = () => {}
  let arrive = () => {}
  let arrived = Promise.resolve()
  return {
    close() {
      closed = new Promise((resolve) => {
        release = resolve
      })
      arrived = new Promise((resolve) => {
        arrive = resolve
      })
    },
    open() {
      closed = null
      release()
    },
    reached: () => arrived,
    async pass() {
      if (closed === null) return
      arrive()
      await closed
    },
  }
}
