import type { OutputDelivery } from './engine.ts'
import { createGrowingBuffer } from './growing-buffer.ts'

/** Standard output on its way from a command to whoever takes it. */
export interface OutputBuffer {
  /** Keeps what fits and counts the rest; it never refuses. */
  write(bytes: Uint8Array): void
  /** Everything since the last take; null when there is nothing. */
  take(): OutputDelivery | null
}

/**
 * A buffer that holds at most `untakenBytesMax`. What does not fit is dropped and told as a gap behind the bytes that
 * were kept; the next take starts at all that was ever written.
 * @see spec/evidence.md §1
 */
export function createOutputBuffer(untakenBytesMax: number): OutputBuffer {
  const held = createGrowingBuffer(untakenBytesMax)
  let offset = 0
  let dropped = 0
  return {
    write(bytes) {
      // Once full it stays full until it is taken, so everything dropped in between is one span.
      dropped += bytes.length - held.append(bytes)
    },
    take() {
      const bytes = held.takeAll()
      if (bytes.length === 0 && dropped === 0) return null
      const gapAt = offset + bytes.length
      const delivery = { offset, bytes, gaps: dropped === 0 ? [] : [{ offset: gapAt, bytes: dropped }] }
      offset = gapAt + dropped
      dropped = 0
      return delivery
    },
  }
}
