import { hash } from 'node:crypto'

// The portable one of src/protocol gives the same, but costs a fresh process 16 ms before its code is compiled.

/** SHA-256 of bytes, or of the UTF-8 of a text, as lowercase hex without a prefix. */
export function sha256Hex(input: Uint8Array | string): string {
  return hash('sha256', input, 'hex')
}

/** The same with its `sha256:` prefix. @see spec/store.md, conventions */
export function sha256Digest(input: Uint8Array | string): `sha256:${string}` {
  return `sha256:${sha256Hex(input)}`
}
