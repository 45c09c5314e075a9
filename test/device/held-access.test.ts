import { expect, test } from 'vitest'
import { openHeldAccess } from '../../src/device/held-access.ts'
import { type Identity, openIdentity } from '../../src/device/identity.ts'
import type { Grant } from '../../src/protocol/bodies/grant.ts'
import { sealEnvelope } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { realDisk } from '../../src/store/disk.ts'
import { grantEntry, now } from '../support/access.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { testKey } from '../support/keys.ts'
import { tempDir } from '../support/temp-dir.ts'

const host = testKey(11)
const day = 86_400

async function stage() {
  const dir = await tempDir()
  const real = await openIdentity(realDisk, systemRandom, dir)
  let opened = 0
  const identity: Identity = {
    ...real,
    keys: {
      ...real.keys,
      get(peer) {
        opened += 1
        return real.keys.get(peer)
      },
    },
  }
  const device = real.signer.publicKey
  const clock = fakeClock(now * 1000)
  const held = await openHeldAccess({ disk: realDisk, dir, clock, policy: 'production', identity })
  const seal = (mailbox: string, body: Record<string, unknown>, retainUntil: number): NostrEvent =>
    sealEnvelope({
      signer: host.signer,
      recipient: device,
      mailbox,
      body,
      conversationKey: host.with(device),
      issuedAt: Number(body['issued_at']),
      retainUntil,
      random: systemRandom,
    })
  const { grant } = grantEntry({ device, issued_at: now, expires_at: now + day })
  const authorize = (body: Grant) => seal(body.grant, { ...body }, body.expires_at)
  const authorization = authorize(grant)
  await held.replace({ v: 'openagents.host-access.v1', requires: [], grant, authorization })
  const reply = seal(
    '5e'.repeat(32),
    {
      v: 'openagents.host-reply.v1',
      requires: [],
      request: '5e'.repeat(32),
      request_event: '6f'.repeat(32),
      host: host.publicKey,
      issued_at: now,
      expires_at: now + 60,
      result: { status: 'refused', code: 'conflict', missing: null },
    },
    now + 60,
  )
  const renewal = authorize({ ...grant, grant: '1b'.repeat(32), expires_at: now + 2 * day })
  return { held, clock, reply, renewal, authorize, grant, opened: () => opened }
}

test('an old answer that every connection brings again is opened once', async () => {
  const { held, reply, opened } = await stage()
  held.offer(reply)
  const once = opened()
  expect(once).toBeGreaterThan(0)
  for (let connection = 0; connection < 5; connection += 1) held.offer({ ...reply })
  expect(opened()).toBe(once)
})

test('a renewal is taken though something forged came under its ID before it', async () => {
  const { held, renewal } = await stage()
  held.offer({ ...renewal, content: 'x' })
  held.offer({ ...renewal, sig: '0'.repeat(128) })
  held.offer(renewal)
  expect((await held.latest())?.authorization).toEqual(renewal)
})

test('a renewal that is dated ahead of the clock is taken once the clock is right', async () => {
  const { held, clock, authorize, grant } = await stage()
  const late = { ...grant, grant: '1c'.repeat(32), issued_at: now + 600, expires_at: now + 2 * day }
  const renewal = authorize(late)
  held.offer(renewal)
  expect((await held.latest())?.grant.grant).toBe(grant.grant)
  clock.jump(600_000)
  held.offer(renewal)
  expect((await held.latest())?.grant).toEqual(late)
})
