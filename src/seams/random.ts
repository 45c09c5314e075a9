/** Where unpredictable bytes come from. */
export interface Random {
  /** `count` independent uniformly random bytes. */
  bytes(count: number): Uint8Array
}

/** The operating system's generator. */
export const systemRandom: Random = {
  bytes: (count) => globalThis.crypto.getRandomValues(new Uint8Array(count)),
}

/** A fresh 64-hex identifier. */
export function randomId(random: Random): string {
  return Array.from(random.bytes(32), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
