const firstBytes = 4_096

/** Bytes collected up to a cap, in one piece of memory: many small writes cost no more than one large one. */
export interface GrowingBuffer {
  /** Keeps as much as fits; how much that was. */
  append(bytes: Uint8Array): number
  /** A copy of everything kept; empty afterwards. */
  takeAll(): Uint8Array
}

/** An empty buffer that grows to at most `bytesMax`. */
export function createGrowingBuffer(bytesMax: number): GrowingBuffer {
  let memory = new Uint8Array(Math.min(firstBytes, bytesMax))
  let length = 0
  return {
    append(bytes) {
      const kept = bytes.subarray(0, bytesMax - length)
      if (length + kept.length > memory.length) {
        const grown = new Uint8Array(Math.min(bytesMax, Math.max(memory.length * 2, length + kept.length)))
        grown.set(memory.subarray(0, length))
        memory = grown
      }
      memory.set(kept, length)
      length += kept.length
      return kept.length
    },
    takeAll() {
      const taken = memory.slice(0, length)
      length = 0
      return taken
    },
  }
}
