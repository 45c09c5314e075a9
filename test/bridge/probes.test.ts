import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseBody } from '../../src/protocol/body.ts'
import { openVerified } from '../../src/protocol/envelope.ts'
import { testKey } from '../support/keys.ts'
import { type Question, type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { refusal } from '../support/results.ts'

const phone = testKey(13)
const owner = testKey(12)
const stranger = testKey(15)
const list = { kind: 'task.list', query: { workspace: 'site', cursor: null, limit: 7 } }
const noGrant = { grant: null, epoch: null }

let bridge: QuietBridge
beforeAll(async () => {
  bridge = await quietBridge()
  await bridge.enroll(phone)
})
afterAll(() => bridge.stop())

const answerTo = async (question: Question): Promise<string> => {
  bridge.deliver(question.event)
  const [event] = await bridge.answers(question)
  if (event === undefined) throw new Error('no answer')
  return refusal(bridge.open(question, event).result)
}
const loose = (question: Question) =>
  bridge.retype(question, (text) => text.replace('"limit":7', '"limit":7.0'))

describe('a request whose operation has an integer that is not written as one', () => {
  it('is malformed to a holder of a current grant, and to the owner', async () => {
    expect(await answerTo(loose(bridge.sign(phone, list)))).toBe('malformed')
    expect(await answerTo(loose(bridge.sign(owner, list, noGrant)))).toBe('malformed')
  })

  it('is malformed too when that integer is all there is of the operation', async () => {
    const question = bridge.sign(phone, 7)
    expect(await answerTo(bridge.retype(question, (text) => text.replace('"op":7', '"op":7e0')))).toBe(
      'malformed',
    )
  })

  it('is answered without being retained: the same request ID is free for a good one', async () => {
    const bad = loose(bridge.sign(phone, list))
    expect(await answerTo(bad)).toBe('malformed')
    const good = bridge.sign(phone, list, { request: bad.request })
    bridge.deliver(good.event)
    const [, event] = await bridge.answers(good, 2)
    if (event === undefined) throw new Error('no answer')
    const { result } = parseBody('reply', openVerified(event, phone.publicKey, phone.with).body, 'production')
    expect(result.status).toBe('ok')
  })

  it('earns a stranger nothing', async () => {
    const question = loose(bridge.sign(stranger, list, noGrant))
    bridge.deliver(question.event)
    await bridge.untilCounted('bad_body')
    expect(bridge.heard(question)).toBe(0)
  })
})

describe('a request with anything else that is not strictly written earns nothing', () => {
  it.each([
    ['an issue time of 1.0', (text: string) => text.replace(/"issued_at":(\d+)/, '"issued_at":$1.0')],
    ['an expiry with an exponent', (text: string) => text.replace(/"expires_at":(\d+)/, '"expires_at":$1e0')],
    ['an epoch of -0', (text: string) => text.replace('"epoch":0', '"epoch":-0')],
    ['a repeated key in its operation', (text: string) => text.replace('"limit":7', '"limit":7,"limit":7')],
    [
      'an integer out of range in its operation',
      (text: string) => text.replace('"limit":7', `"limit":${2 ** 53}`),
    ],
    ['a lone surrogate in its operation', (text: string) => text.replace('"site"', '"\\ud800"')],
    [
      '65 levels in its operation',
      (text: string) => text.replace('"limit":7', `"limit":${'['.repeat(65)}${']'.repeat(65)}`),
    ],
  ])('%s', async (_name, edit) => {
    const before = (await bridge.service().status()).counters['bad_envelope'] ?? 0
    const plain = bridge.sign(phone, list)
    const question = bridge.retype(plain, edit)
    expect(bridge.heard(question)).toBe(0)
    bridge.deliver(question.event)
    await bridge.untilCounted('bad_envelope', before + 1)
    expect(bridge.heard(question)).toBe(0)
  })
})
