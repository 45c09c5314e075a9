import { Refusal } from './refusal.ts'

/** Canonical padded base64. */
export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    binary += String.fromCharCode(...bytes.subarray(start, start + chunkBytes))
  }
  return globalThis.btoa(binary)
}

/** The bytes of canonical padded base64. Refuses `malformed` for white space, bad padding and stray bits. */
export function fromBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw notBase64()
  const binary = globalThis.atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index)
  const tail = bytes.subarray(bytes.length - (bytes.length % 3 || 3))
  if (text.length > 0 && toBase64(tail) !== text.slice(-4)) throw notBase64()
  return bytes
}

/** Unpadded base64url. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** The bytes of canonical unpadded base64url. Refuses `malformed`. */
export function fromBase64Url(text: string): Uint8Array {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw notBase64()
  const padded = text.replaceAll('-', '+').replaceAll('_', '/')
  return fromBase64(padded.padEnd(Math.ceil(padded.length / 4) * 4, '='))
}

const chunkBytes = 8_190

function notBase64(): Refusal {
  return new Refusal('malformed', 'not canonical base64')
}
