import { conversationKey } from '../../src/protocol/nip44.ts'
import { createSigner, type Signer } from '../../src/protocol/signer.ts'

/** A key that tests know: a small scalar. */
export interface TestKey {
  readonly secret: string
  readonly publicKey: string
  readonly signer: Signer
  with(peer: string): Uint8Array
}

export function testKey(scalar: number): TestKey {
  return keyOf(scalar.toString(16).padStart(64, '0'))
}

/** The same from 64 hex. */
export function keyOf(secret: string): TestKey {
  const signer = createSigner(secret)
  const shared = new Map<string, Uint8Array>()
  return {
    secret,
    publicKey: signer.publicKey,
    signer,
    with(peer) {
      const key = shared.get(peer) ?? conversationKey(secret, peer)
      shared.set(peer, key)
      return key
    },
  }
}
