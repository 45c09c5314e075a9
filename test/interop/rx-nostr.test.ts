import { getPublicKey, seckeySigner, verifier } from '@rx-nostr/crypto'
import { v2 as nip44 } from 'nostr-tools/nip44'
import { createRxForwardReq, createRxNostr, noopSigner } from 'rx-nostr'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { WebSocket } from 'ws'
import { type BridgeStage, bridgeStage } from '../support/bridge-stage.ts'
import type { ForeignDial, ForeignEvent, ForeignKey } from './foreign-device.ts'
import { liveAsDevice, secretOf } from './whole-device.ts'

let stage: BridgeStage

beforeAll(async () => {
  stage = await bridgeStage()
})

afterAll(() => stage.end())

describe('a device on rx-nostr', () => {
  it('authenticates, redeems, creates, commands, reads and hears presence over the embedded relay', () =>
    liveAsDevice(stage, key, dial))
})

const secret = secretOf('a device on rx-nostr')
const signer = seckeySigner(secret)
const conversation = (peer: string) => nip44.utils.getConversationKey(Buffer.from(secret, 'hex'), peer)

/** Signed and verified by @rx-nostr/crypto, which has no NIP-44: that part is nostr-tools'. */
const key: ForeignKey = {
  publicKey: getPublicKey(secret),
  sign: (template) => signer.signEvent(template),
  verify: (event) => verifier(event),
  encrypt: (peer, text) => nip44.encrypt(text, conversation(peer)),
  decrypt: (peer, payload) => nip44.decrypt(payload, conversation(peer)),
}

const dial: ForeignDial = async (relay, { publicKey }, hear) => {
  const client = createRxNostr({ signer, verifier, authenticator: 'auto', websocketCtor: WebSocket })
  client.setDefaultRelays([relay])
  const request = createRxForwardReq()
  const live = new Promise<void>((resolve) => {
    client.createAllMessageObservable().subscribe(({ type }) => type === 'EOSE' && resolve())
  })
  client.use(request).subscribe(({ event }) => hear(event as ForeignEvent))
  request.emit({ kinds: [3188], '#p': [publicKey] })
  await live
  return {
    publish: (event) =>
      new Promise((resolve, reject) => {
        client.send(event, { signer: noopSigner() }).subscribe({
          next: ({ ok, notice }) => (ok ? resolve() : reject(new Error(notice))),
          error: reject,
        })
      }),
    close: () => client.dispose(),
  }
}
