import type { CapturedText } from './engine.ts'
import { createGrowingBuffer } from './growing-buffer.ts'

/** Standard error: its beginning kept, all of it counted. */
export interface ErrorCapture {
  write(bytes: Uint8Array): void
  /** What was captured; empty afterwards. */
  finish(): CapturedText
}

/** Keeps the first `bytesMax` bytes. @see spec/execution.md §7 */
export function createErrorCapture(bytesMax: number): ErrorCapture {
  const kept = createGrowingBuffer(bytesMax)
  let total = 0
  return {
    write(bytes) {
      kept.append(bytes)
      total += bytes.length
    },
    finish() {
      const bytes = kept.takeAll()
      // A stream that goes on: the decoder keeps back a character that is not whole yet.
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
      return { text, bytes: total, truncated: total > bytes.length }
    },
  }
}
