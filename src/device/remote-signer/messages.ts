import * as z from 'zod'
import {
  signerAnswerBytesMax,
  signerIdCharsMax,
  signerRequestBytesMax,
  signerWordsCharsMax,
} from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { parseStrictJson } from '../../protocol/strict-json.ts'
import { utf8Bytes } from '../../protocol/text.ts'

/** The kind of the events in which a client and a remote signer talk (NIP-46). */
export const signerKind = 24_133

/** The field of every refusal that is the remote signer's own doing. */
export const signerField = 'signer'

/** What is asked of a remote signer. */
export type SignerMethod = 'connect' | 'get_public_key' | 'sign_event' | 'nip44_encrypt' | 'nip44_decrypt'

/** What a remote signer says of a request: how it came out, that a person must look at a page first, or nothing. */
export type SignerAnswer =
  | { readonly id: string; readonly says: 'look'; readonly url: string }
  | { readonly id: string; readonly says: 'result'; readonly result: string }
  | { readonly id: string; readonly says: 'error'; readonly words: string }
  | { readonly id: string; readonly says: 'nothing' }

const answerSchema = z.object({
  id: z.string().max(signerIdCharsMax),
  result: z.string().nullish(),
  error: z.string().nullish(),
})

/**
 * The text of a request. Refuses `bounds`, with the numbers, when it is longer than the signers of others can
 * decrypt.
 */
export function signerRequest(id: string, method: SignerMethod, params: readonly string[]): string {
  const text = JSON.stringify({ id, method, params })
  const bytes = utf8Bytes(text)
  if (bytes <= signerRequestBytesMax) return text
  throw new Refusal(
    'bounds',
    `a request of ${bytes} bytes to the remote signer is over ${signerRequestBytesMax}`,
  )
}

/** Reads an answer. Refuses `malformed` for anything else. */
export function readSignerAnswer(plaintext: Uint8Array): SignerAnswer {
  const { value } = parseStrictJson(plaintext, { bytesMax: signerAnswerBytesMax })
  const read = answerSchema.safeParse(value)
  if (!read.success) throw new Refusal('malformed', 'not an answer of a remote signer')
  const { id, result, error } = read.data
  const words = error ?? ''
  if (result === 'auth_url' && words !== '') return { id, says: 'look', url: words }
  if (words !== '') return { id, says: 'error', words }
  if (typeof result === 'string') return { id, says: 'result', result }
  return { id, says: 'nothing' }
}

/** Words of a remote signer for a person: one line, bounded, and never the secret that lets clients in. */
export function signerWords(words: string, secret: string | null): string {
  const told = secret === null ? words : words.replaceAll(secret, '…')
  const line = told.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return line.length <= signerWordsCharsMax ? line : `${line.slice(0, signerWordsCharsMax)}…`
}
