import { createCipheriv, createHash, createHmac, randomBytes } from 'node:crypto'
import { initNostrWasm } from 'nostr-wasm'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { TestKey } from '../support/keys.ts'

const wasm = await initNostrWasm()

/**
 * Encrypts any bytes as NIP-44 v2 does, on the platform's own crypto: also what is no UTF-8 and no text.
 * @param key the conversation key
 */
export function sealBytes(plaintext: Uint8Array, key: Uint8Array): string {
  const nonce = randomBytes(32)
  const keys = expand(key, nonce)
  const counter = Buffer.concat([Buffer.alloc(4), keys.subarray(32, 44)])
  const cipher = createCipheriv('chacha20', keys.subarray(0, 32), counter)
  const ciphertext = cipher.update(padded(plaintext))
  const mac = createHmac('sha256', keys.subarray(44, 76)).update(nonce).update(ciphertext).digest()
  return Buffer.concat([Uint8Array.of(2), nonce, ciphertext, mac]).toString('base64')
}

/** Signs whatever it is given, where the host's own signer would remember that the signature is good. */
export function signRaw(
  template: Pick<NostrEvent, 'kind' | 'created_at' | 'tags' | 'content'>,
  { publicKey, secret }: TestKey,
): NostrEvent {
  const event = { ...template, pubkey: publicKey, id: '', sig: '' }
  event.id = sha256(JSON.stringify([0, publicKey, event.created_at, event.kind, event.tags, event.content]))
  wasm.finalizeEvent(event, Buffer.from(secret, 'hex'))
  return event
}

export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/** The canonical text of a JSON value. @see RFC 8785 */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${canonicalText(item)}`).join(',')}}`
}

function expand(key: Uint8Array, info: Uint8Array): Buffer {
  const blocks: Buffer[] = []
  for (let index = 1; index <= 3; index += 1) {
    const before = blocks.at(-1) ?? Buffer.alloc(0)
    blocks.push(createHmac('sha256', key).update(before).update(info).update(Uint8Array.of(index)).digest())
  }
  return Buffer.concat(blocks)
}

function padded(plaintext: Uint8Array): Buffer {
  const { length } = plaintext
  const nextPower = 2 ** (Math.floor(Math.log2(Math.max(length, 33) - 1)) + 1)
  const chunk = nextPower <= 256 ? 32 : nextPower / 8
  const room = Math.max(32, chunk * Math.ceil(length / chunk))
  const prefix = Buffer.alloc(length > 65_535 ? 6 : 2)
  if (length > 65_535) prefix.writeUInt32BE(length, 2)
  else prefix.writeUInt16BE(length)
  return Buffer.concat([prefix, plaintext, Buffer.alloc(room - length)])
}
