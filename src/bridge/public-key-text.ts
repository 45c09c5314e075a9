import { decode } from 'nostr-tools/nip19'
import { isPublicKey } from '../protocol/keys.ts'
import { Refusal } from '../protocol/refusal.ts'

/** A public key as a person gives it, `npub1…` or 64 hex, as 64 lowercase hex. Refuses `configuration`. */
export function publicKeyFromText(text: string): string {
  const given = text.trim()
  if (given.toLowerCase().startsWith('nsec1')) {
    throw new Refusal('configuration', 'that is a secret key; give the public one (npub1… or 64 hex)')
  }
  const hex = given.startsWith('npub1') ? fromNpub(given) : given.toLowerCase()
  if (!isPublicKey(hex)) throw new Refusal('configuration', 'not a public key: give npub1… or 64 hex')
  return hex
}

function fromNpub(text: string): string {
  try {
    const decoded = decode(text)
    return decoded.type === 'npub' ? decoded.data : ''
  } catch {
    return ''
  }
}
