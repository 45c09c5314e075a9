import {
  Event,
  EventBuilder,
  Keys,
  Kind,
  loadWasmAsync,
  NIP44Version,
  nip44Decrypt,
  nip44Encrypt,
  PublicKey,
  Tag,
  Timestamp,
} from '@rust-nostr/nostr-sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { openVerified, sealEnvelope } from '../../src/protocol/envelope.ts'
import { eventJson, parseEvent } from '../../src/protocol/event.ts'
import { loadFastCrypto, verifyEvent } from '../../src/protocol/signer.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { hostFixtures, hostSecrets, validBody } from '../support/host-fixtures.ts'
import { testKey } from '../support/keys.ts'

const host = testKey(11)
const phone = testKey(13)
const mailbox = '3c'.repeat(32)
const now = 1_795_000_000

beforeAll(async () => {
  await Promise.all([loadWasmAsync(), loadFastCrypto()])
})

/** What another implementation reads in an event that the phone and the host share. */
function readElsewhere(json: string, secret: string, peer: string): Record<string, unknown> {
  const event = Event.fromJson(json)
  expect(event.verify()).toBe(true)
  const key = Keys.parse(secret).secretKey
  return JSON.parse(nip44Decrypt(key, PublicKey.parse(peer), event.content))
}

describe('rust-nostr', () => {
  it.each(hostFixtures.events)('verifies and decrypts the fixture "$name"', ({ event, opens_to }) => {
    const peer = event.pubkey === host.publicKey ? phone.publicKey : event.pubkey
    const envelope = readElsewhere(JSON.stringify(event), hostSecrets.host, peer)
    expect(envelope['inline']).toEqual(hostFixtures.valid[opens_to])
  })

  it('verifies and decrypts what we seal', () => {
    const body = validBody('request_command_queue')
    const event = sealEnvelope({
      signer: phone.signer,
      recipient: host.publicKey,
      mailbox,
      body,
      conversationKey: phone.with(host.publicKey),
      issuedAt: now,
      retainUntil: now + 60,
      random: systemRandom,
    })
    const envelope = readElsewhere(eventJson(event), hostSecrets.host, phone.publicKey)
    expect(envelope).toMatchObject({
      v: 'openagents.artifact-envelope.v1',
      inline: body,
      retain_until: now + 60,
    })
  })

  it('makes events that open here', () => {
    const first = hostFixtures.events[0] ?? expect.fail('no event')
    const envelope = readElsewhere(JSON.stringify(first.event), hostSecrets.host, phone.publicKey)
    const keys = Keys.parse(hostSecrets.phone)
    const text = JSON.stringify(envelope)
    const content = nip44Encrypt(keys.secretKey, PublicKey.parse(host.publicKey), text, NIP44Version.V2)
    const made = new EventBuilder(new Kind(3188), content)
      .tags([Tag.parse(['p', host.publicKey]), Tag.parse(['h', mailbox]), Tag.parse(['t', 'oa:artifact:v1'])])
      .customCreatedAt(Timestamp.fromSecs(now))
      .signWithKeys(keys)
    const event = parseEvent(JSON.parse(made.asJson()))
    expect(verifyEvent(event)).toBe(true)
    const opened = openVerified(event, host.publicKey, host.with)
    expect(opened.body).toEqual(hostFixtures.valid[first.opens_to])
    expect(opened.author).toBe(phone.publicKey)
  })

  it('reads plaintexts as long as we ever send', () => {
    const keys = Keys.parse(hostSecrets.host)
    const body = {
      ...validBody('request_device_list'),
      op: { kind: 'spend.list', grant: { note: 'é'.repeat(24_000) } },
    }
    const event = sealEnvelope({
      signer: phone.signer,
      recipient: host.publicKey,
      mailbox,
      body,
      conversationKey: phone.with(host.publicKey),
      issuedAt: now,
      retainUntil: now + 60,
      random: systemRandom,
    })
    const text = nip44Decrypt(keys.secretKey, PublicKey.parse(phone.publicKey), event.content)
    expect(JSON.parse(text).inline).toEqual(body)
  })
})
