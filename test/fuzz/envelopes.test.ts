import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { openVerified } from '../../src/protocol/envelope.ts'
import { isRefusal } from '../../src/protocol/refusal.ts'
import { loadFastCrypto } from '../../src/protocol/signer.ts'
import { fuzzCases } from '../support/fuzz-cases.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import { hostFixtures } from '../support/host-fixtures.ts'
import { testKey } from '../support/keys.ts'
import { eventPlan, makeEvent } from './event-cases.ts'
import { fuzzedBodies } from './fixtures.ts'
import { canonicalText } from './raw-seal.ts'
import { open } from './rules/event-rules.ts'
import { id } from './rules/rule.ts'

const [host, phone] = [testKey(11), testKey(13)]
const shared = host.with(phone.publicKey)
const bodies = Object.values(fuzzedBodies)
const texts = bodies.map((body) => Buffer.from(JSON.stringify(body)))
const cases = fuzzCases('envelopes')

beforeAll(loadFastCrypto)

describe('an envelope', () => {
  it('of any body, spoilt anywhere, opens to what was sealed or not at all', () => {
    fc.assert(
      fc.property(eventPlan, (plan) => {
        const body = bodies[plan.body % bodies.length] ?? expect.fail()
        const [signer, self] = plan.signer % 2 === 0 ? [host, phone] : [phone, host]
        const made = makeEvent(plan, {
          body,
          mailbox: '5a'.repeat(32),
          signer,
          recipient: self.publicKey,
          key: shared,
          others: texts,
          now: hostFixtures.now,
        })
        const expected = expectedOf(made, self.publicKey)
        expect(bodyOf(made.event, self.publicKey)).toBe(expected)
        cases.ran()
      }),
      { numRuns: fuzzRuns(800) },
    )
  })
})

function bodyOf(event: Parameters<typeof openVerified>[0], self: string): string | null {
  try {
    return canonicalText(openVerified(event, self, () => shared).body)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return null
  }
}

function expectedOf(
  { event, plaintext, genuine }: ReturnType<typeof makeEvent>,
  self: string,
): string | null {
  const tag = (name: string) => event.tags.find((one) => one.length === 2 && one[0] === name)?.[1]
  const addressed = event.tags.length === 3 && tag('p') === self && id(tag('h')) === 'ok'
  if (!genuine || event.kind !== 3_188 || !addressed || tag('t') !== 'oa:artifact:v1') return null
  const opened = plaintext === null ? null : open(plaintext, event.created_at)
  return opened === null || opened.loose !== 'nowhere' ? null : canonicalText(opened.body)
}
