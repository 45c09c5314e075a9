import { createHash } from 'node:crypto'
import type { Random } from '../../../src/seams/random.ts'

/** Bytes that look random and follow from a label alone. */
export interface SeededRandom extends Random {
  /** Begins anew: what is drawn from now on depends on this label only. */
  label(label: string): void
}

export function seededRandom(): SeededRandom {
  let seed = ''
  let draws = 0
  return {
    label(label) {
      seed = label
      draws = 0
    },
    bytes(count) {
      draws += 1
      const bytes = new Uint8Array(count)
      for (let at = 0; at < count; at += 32) {
        const block = createHash('sha256').update(`${seed}\0${draws}\0${at}`).digest()
        bytes.set(block.subarray(0, Math.min(32, count - at)), at)
      }
      return bytes
    },
  }
}

/**
 * Lets signatures have no randomness of their own until the returned end is called: the libraries that sign take it
 * from the platform, and zeros are as good where every key is public.
 */
export function withoutAuxiliaryRandomness(): () => void {
  const { crypto } = globalThis
  Object.defineProperty(crypto, 'getRandomValues', {
    configurable: true,
    value: <T extends ArrayBufferView>(array: T): T => {
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).fill(0)
      return array
    },
  })
  return () => void Reflect.deleteProperty(crypto, 'getRandomValues')
}
