import {
  ClientBuilder,
  Event,
  EventBuilder,
  Filter,
  Keys,
  Kind,
  loadWasmAsync,
  NIP44Version,
  NostrSigner,
  nip44Decrypt,
  nip44Encrypt,
  PublicKey,
  type RelayMessage,
  Tag,
  Timestamp,
} from '@rust-nostr/nostr-sdk'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type BridgeStage, bridgeStage } from '../support/bridge-stage.ts'
import type { ForeignDial, ForeignKey } from './foreign-device.ts'
import { liveAsDevice, secretOf } from './whole-device.ts'

let stage: BridgeStage

beforeAll(async () => {
  await loadWasmAsync()
  stage = await bridgeStage()
})

afterAll(() => stage.end())

describe('a device on rust-nostr', () => {
  it('authenticates, redeems, creates, commands, reads and hears presence over the embedded relay', () => {
    const keys = Keys.parse(secretOf('a device on rust-nostr'))
    return liveAsDevice(stage, keyOf(keys), dialWith(keys))
  })
})

/** Signed, verified, encrypted and decrypted by Rust alone. */
function keyOf(keys: Keys): ForeignKey {
  return {
    publicKey: keys.publicKey.toHex(),
    async sign({ kind, created_at, tags, content }) {
      const event = new EventBuilder(new Kind(kind), content)
        .tags(tags.map((tag) => Tag.parse(tag)))
        .customCreatedAt(Timestamp.fromSecs(created_at))
        .signWithKeys(keys)
      return JSON.parse(event.asJson())
    },
    verify: async (event) => Event.fromJson(JSON.stringify(event)).verify(),
    encrypt: (peer, text) => nip44Encrypt(keys.secretKey, PublicKey.parse(peer), text, NIP44Version.V2),
    decrypt: (peer, payload) => nip44Decrypt(keys.secretKey, PublicKey.parse(peer), payload),
  }
}

function dialWith(keys: Keys): ForeignDial {
  return async (relay, { publicKey }, hear) => {
    const client = new ClientBuilder().signer(NostrSigner.keys(keys)).build()
    await client.addRelay(relay)
    await client.connect()
    let subscribed: () => void = () => {}
    const live = new Promise<void>((resolve) => {
      subscribed = resolve
    })
    const handling = client.handleNotifications({
      async handleEvent(_relay, _subscription, event) {
        hear(JSON.parse(event.asJson()))
        return false
      },
      async handleMsg(_relay, message: RelayMessage) {
        if (JSON.parse(message.asJson())[0] === 'EOSE') subscribed()
        return false
      },
    })
    await client.subscribe(new Filter().kind(new Kind(3188)).pubkey(PublicKey.parse(publicKey)))
    await live
    return {
      async publish(event) {
        const { success } = await client.sendEvent(Event.fromJson(JSON.stringify(event)))
        if (success.length === 0) throw new Error('the relay did not take it')
      },
      async close() {
        handling.abort()
        await client.shutdown()
      },
    }
  }
}
