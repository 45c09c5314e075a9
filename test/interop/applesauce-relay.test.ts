import { Relay } from 'applesauce-relay'
import { v2 as nip44 } from 'nostr-tools/nip44'
import { finalizeEvent, getPublicKey, verifyEvent } from 'nostr-tools/pure'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { WebSocket } from 'ws'
import { type BridgeStage, bridgeStage } from '../support/bridge-stage.ts'
import type { ForeignDial, ForeignKey } from './foreign-device.ts'
import { liveAsDevice, secretOf } from './whole-device.ts'

let stage: BridgeStage

beforeAll(async () => {
  stage = await bridgeStage()
})

afterAll(() => stage.end())

describe('a device on applesauce-relay', () => {
  it('authenticates, redeems, creates, commands, reads and hears presence over the embedded relay', () =>
    liveAsDevice(stage, key, dial))
})

const secret = Buffer.from(secretOf('a device on applesauce-relay'), 'hex')
const conversation = (peer: string) => nip44.utils.getConversationKey(secret, peer)

/** The library carries events; its own signers are thin covers of nostr-tools, which is used directly here. */
const key: ForeignKey = {
  publicKey: getPublicKey(secret),
  sign: async (template) => finalizeEvent({ ...template }, secret),
  verify: async (event) => verifyEvent({ ...event }),
  encrypt: (peer, text) => nip44.encrypt(text, conversation(peer)),
  decrypt: (peer, payload) => nip44.decrypt(payload, conversation(peer)),
}

const dial: ForeignDial = async (url, { publicKey, sign }, hear) => {
  const relay = new Relay(url, { WebSocket: WebSocket as unknown as typeof globalThis.WebSocket })
  const proved = new Set<string>()
  relay.challenge$.subscribe((challenge) => {
    if (challenge === null || proved.has(challenge)) return
    proved.add(challenge)
    void relay.authenticate({ signEvent: sign })
  })
  await new Promise<void>((resolve, reject) => {
    relay.subscription({ kinds: [3188], '#p': [publicKey] }, { resubscribe: true }).subscribe({
      next: (event) => (event === 'EOSE' ? resolve() : hear(event)),
      error: reject,
    })
  })
  return {
    async publish(event) {
      const { ok, message } = await relay.publish(event)
      if (!ok) throw new Error(message)
    },
    close: () => relay.close(),
  }
}
