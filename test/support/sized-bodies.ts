import { envelopePlaintext, sealEnvelope } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { JsonObject } from '../../src/protocol/json-value.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { requestWith } from './host-fixtures.ts'
import type { TestKey } from './keys.ts'

/** The times of the envelope that a body travels in, Unix seconds. */
export function timesOf(body: JsonObject): { issuedAt: number; retainUntil: number } {
  const issuedAt = Number(body['issued_at'] ?? body['observed_at'] ?? body['updated_at'])
  return { issuedAt, retainUntil: Number(body['expires_at'] ?? issuedAt + 300) }
}

/** The text that is encrypted for a body. */
export function plaintextOf(body: JsonObject): string {
  return envelopePlaintext({ body, ...timesOf(body) })
}

/**
 * A request whose text, when sealed, is exactly `bytes` UTF-8 bytes long, filled with `letter` and ones of one byte;
 * as short as such a request can be when `bytes` is less than that.
 */
export function bodyOfPlaintext(bytes: number, letter: string): JsonObject {
  const filled = (times: number, rest: number): JsonObject =>
    requestWith({ kind: 'spend.list', grant: { note: letter.repeat(times) + 'x'.repeat(rest) } })
  const lengthOf = (times: number, rest: number): number =>
    Buffer.byteLength(plaintextOf(filled(times, rest)))
  const each = Buffer.byteLength(JSON.stringify(letter)) - 2
  // The number of bytes is written in the envelope too: room for its digits is left, and filled with single bytes.
  const times = Math.max(0, Math.floor((bytes - lengthOf(0, 0) - 4) / each))
  return filled(times, Math.max(0, bytes - lengthOf(times, 0)))
}

/** The event in which `from` sends a body to `to`. */
export function sealedBy(from: TestKey, to: string, body: JsonObject, mailbox: string): NostrEvent {
  return sealEnvelope({
    signer: from.signer,
    recipient: to,
    mailbox,
    body,
    conversationKey: from.with(to),
    random: systemRandom,
    ...timesOf(body),
  })
}
