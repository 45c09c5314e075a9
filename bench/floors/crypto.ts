import { bytesToHex, randomBytes } from '@noble/hashes/utils.js'
import { v2 as nip44 } from 'nostr-tools/nip44'
import { getPublicKey } from 'nostr-tools/pure'
import { finalizeEvent, setNostrWasm, verifyEvent } from 'nostr-tools/wasm'
import { initNostrWasm } from 'nostr-wasm'

/** What a request and its reply cannot avoid: each sealed, signed, verified and opened once. */
export async function cryptoFloor(plaintextBytes: number): Promise<() => void> {
  setNostrWasm(await initNostrWasm())
  const [device, host] = [randomBytes(32), randomBytes(32)]
  const key = nip44.utils.getConversationKey(device, getPublicKey(host))
  const body = 'x'.repeat(plaintextBytes)
  const oneWay = (secret: Uint8Array): void => {
    const content = nip44.encrypt(body, key)
    const tags = [['p', getPublicKeyOnce(secret)]]
    const signed = finalizeEvent({ kind: 3188, created_at: 1_795_000_000, tags, content }, secret)
    const { id, pubkey, created_at, kind, sig } = signed
    if (!verifyEvent({ id, pubkey, created_at, kind, tags, content, sig })) throw new Error('not verified')
    if (nip44.decrypt(content, key) !== body) throw new Error('not opened')
  }
  return () => {
    oneWay(device)
    oneWay(host)
  }
}

/** What a host cannot avoid for one request: it verified and opened once, its answer sealed and signed once. */
export async function answerFloor(requestBytes: number, answerBytes: number): Promise<() => void> {
  setNostrWasm(await initNostrWasm())
  const [device, host] = [randomBytes(32), randomBytes(32)]
  const key = nip44.utils.getConversationKey(device, getPublicKey(host))
  const tags = [['p', getPublicKey(host)]]
  const made = (text: string, secret: Uint8Array) =>
    finalizeEvent({ kind: 3188, created_at: 1_795_000_000, tags, content: nip44.encrypt(text, key) }, secret)
  const asked = made('x'.repeat(requestBytes), device)
  const answer = 'x'.repeat(answerBytes)
  return () => {
    const { id, pubkey, created_at, kind, content, sig } = asked
    if (!verifyEvent({ id, pubkey, created_at, kind, tags, content, sig })) throw new Error('not verified')
    nip44.decrypt(content, key)
    made(answer, host)
  }
}

const known = new Map<string, string>()

function getPublicKeyOnce(secret: Uint8Array): string {
  const name = bytesToHex(secret)
  const found = known.get(name) ?? getPublicKey(secret)
  known.set(name, found)
  return found
}
