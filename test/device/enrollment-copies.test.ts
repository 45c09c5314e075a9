import { describe, expect, it } from 'vitest'
import { type ApproverTerms, chooseEnrollment, readCopy } from '../../src/device/enrollment-copies.ts'
import { signerField } from '../../src/device/remote-signer/messages.ts'
import type { EnrollmentRequest } from '../../src/protocol/bodies/enrollment-request.ts'
import { createConversationKeys } from '../../src/protocol/conversation-keys.ts'
import { enrollmentDigest } from '../../src/protocol/enrollment-code.ts'
import { sealEnvelope } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { Refusal } from '../../src/protocol/refusal.ts'
import { localSealer } from '../../src/protocol/sealer.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { id, relay } from '../support/access.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { type TestKey, testKey } from '../support/keys.ts'
import { refused } from '../support/refusals.ts'

const [host, owner, admin, stranger] = [11, 12, 13, 15].map(testKey) as [TestKey, TestKey, TestKey, TestKey]
const clock = fakeClock()
const now = clock.nowMs() / 1000

const terms = (approver: TestKey): ApproverTerms => ({
  sealer: localSealer(approver.signer, createConversationKeys(approver.secret, 4), systemRandom),
  host: host.publicKey,
  owner: owner.publicKey,
  relay,
  clock,
  dial: dialRelay,
  policy: 'production',
})

const request: EnrollmentRequest = {
  v: 'openagents.host-enrollment-request.v1',
  requires: [],
  enrollment: id(0xe1),
  host: host.publicKey,
  owner: owner.publicKey,
  relay,
  rights: ['observe', 'operate'],
  issued_at: now,
  expires_at: now + 300,
}

interface Copy {
  readonly body?: Partial<EnrollmentRequest>
  readonly from?: TestKey
  readonly to?: TestKey
  readonly mailbox?: string
}

function copy({ body = {}, from = host, to = owner, mailbox }: Copy = {}): NostrEvent {
  const whole = { ...request, ...body }
  return sealEnvelope({
    signer: from.signer,
    recipient: to.publicKey,
    mailbox: mailbox ?? whole.enrollment,
    body: whole,
    conversationKey: from.with(to.publicKey),
    issuedAt: whole.issued_at,
    retainUntil: whole.expires_at,
    random: systemRandom,
  })
}

describe('a sealed copy of an enrollment', () => {
  it('waits for its owner, or for a device that serves the same owner, under the digest of its bytes', async () => {
    const pending = { request, digest: enrollmentDigest(request) }
    expect(await readCopy(copy(), terms(owner))).toEqual(pending)
    expect(await readCopy(copy({ to: admin }), terms(admin))).toEqual(pending)
  })

  it.each<[string, Copy]>([
    ['signed by another key than the host', { from: stranger }],
    ['signed by the approver', { from: owner, to: host }],
    ['sealed to another', { to: admin }],
    ['in another mailbox', { mailbox: id(0xe2) }],
    ['of another host', { body: { host: stranger.publicKey } }],
    ['of a host that serves another owner', { body: { owner: stranger.publicKey } }],
    ['over another relay', { body: { relay: 'wss://other.example.net/' } }],
    ['that is over', { body: { issued_at: now - 300, expires_at: now } }],
    ['from the future', { body: { issued_at: now + 61, expires_at: now + 300 } }],
    ['that would live too long', { body: { expires_at: now + 301 } }],
    ['with a field too many', { body: { note: 'x' } as object }],
  ])('is none of ours: one %s', async (_, changes) => {
    expect(await readCopy(copy(changes), terms(owner))).toBeNull()
  })

  it('is none of ours when its signature is not its own, or when it is no enrollment', async () => {
    const event = copy()
    expect(await readCopy({ ...event, sig: copy().sig }, terms(owner))).toBeNull()
    expect(await readCopy({ ...event, content: copy({ to: admin }).content }, terms(owner))).toBeNull()
    const other = { v: 'openagents.host-nudge.v1', host: host.publicKey }
    expect(await readCopy(copy({ body: other as object }), terms(owner))).toBeNull()
  })

  it('is not told from others while the signer does not open it', async () => {
    const decrypt = () => Promise.reject(new Refusal('denied', 'no', { field: signerField }))
    const given = terms(owner)
    await refused('denied', readCopy(copy(), { ...given, sealer: { ...given.sealer, decrypt } }))
  })
})

describe('the enrollment that is meant', () => {
  const one = { request, digest: id(1) }
  const two = { request: { ...request, enrollment: id(0xe2) }, digest: id(2) }

  it('is the only one, or the named one', () => {
    expect(chooseEnrollment([one], undefined)).toBe(one)
    expect(chooseEnrollment([one, two], id(0xe2))).toBe(two)
  })

  it('is asked for where there are several, and missed where there is none', async () => {
    const { message } = await refused('conflict', () => chooseEnrollment([one, two], undefined))
    expect(message).toContain(`${id(0xe1)} ${id(0xe2)}`)
    await refused('not_found', () => chooseEnrollment([], undefined))
    await refused('not_found', () => chooseEnrollment([one, two], id(0xe3)))
  })
})
