import { envelopeContentBytesMax } from '../limits.ts'
import type { Random } from '../seams/random.ts'
import type { ConversationKeys } from './conversation-keys.ts'
import {
  envelopePlaintext,
  envelopeTemplate,
  type OpenedEnvelope,
  type Opening,
  readPlaintext,
  type Sealing,
  verifiedPeer,
} from './envelope.ts'
import type { EventTemplate, NostrEvent } from './event.ts'
import { decryptToBytes, encrypt } from './nip44.ts'
import type { Signer } from './signer.ts'

/** One key at work, wherever it lives: it signs, encrypts and decrypts, and never shows itself. */
export interface Sealer {
  /** 64 lowercase hex. */
  readonly publicKey: string
  sign(template: EventTemplate): Promise<NostrEvent>
  /** NIP-44 v2 for a peer. */
  encrypt(peer: string, text: string): Promise<string>
  /** The exact bytes inside a NIP-44 v2 payload from or to a peer. */
  decrypt(peer: string, payload: string): Promise<Uint8Array>
}

/** A sealer whose key is in this process. */
export function localSealer(signer: Signer, keys: ConversationKeys, random: Random): Sealer {
  return {
    publicKey: signer.publicKey,
    sign: async (template) => signer.sign(template),
    encrypt: async (peer, text) => encrypt(text, keys.get(peer), random.bytes(32)),
    decrypt: async (peer, payload) =>
      decryptToBytes(payload, keys.get(peer), { contentBytesMax: envelopeContentBytesMax }),
  }
}

/** Seals a body as `sealEnvelope` does, by a key that may live elsewhere. @see spec/wire.md §2 */
export async function sealBy(
  sealer: Sealer,
  sealing: Pick<Sealing, 'recipient' | 'mailbox' | 'body' | 'issuedAt' | 'retainUntil'>,
): Promise<NostrEvent> {
  const content = await sealer.encrypt(sealing.recipient, envelopePlaintext(sealing))
  return sealer.sign(envelopeTemplate(sealing, content))
}

/** Verifies and opens an event as `openVerified` does, by a key that may live elsewhere. @see spec/wire.md §2 */
export async function openBy(
  sealer: Sealer,
  event: NostrEvent,
  options: Opening = {},
): Promise<OpenedEnvelope> {
  const peer = verifiedPeer(event, sealer.publicKey, options)
  return readPlaintext(event, await sealer.decrypt(peer, event.content), options)
}
