import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/protocol/operations.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import { id } from '../support/access.ts'
import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { eventsTo, nudgeFrom, toldTo } from '../support/told-by-host.ts'

const phone = testKey(13)
const tablet = testKey(14)
const owner = testKey(12)
const stranger = testKey(15)
const create = (title: string): Operation => ({
  kind: 'task.create',
  task: { title, prompt: 'Sort the entries.', workspace: 'site' },
})
const presences = (bridge: QuietBridge, key = phone) => toldTo(bridge, key, 'presence').length
const enrolled = async () => {
  const bridge = await quietBridge()
  await bridge.enroll(phone)
  await expect.poll(() => presences(bridge)).toBe(1)
  return bridge
}

describe('a nudge of a device', () => {
  it('is answered with presence, once, however often and on however many relays it comes', async () => {
    const bridge = await enrolled()
    const nudge = nudgeFrom(bridge, phone)
    bridge.deliver(nudge)
    await expect.poll(() => presences(bridge)).toBe(2)
    await bridge.clock.advance(31_000)
    bridge.deliver(nudge)
    await bridge.untilCounted('nudges_ignored')
    expect(presences(bridge)).toBe(2)
    await bridge.stop()
  })

  it('is answered at most every thirty seconds for one device', async () => {
    const bridge = await enrolled()
    await bridge.enroll(tablet)
    bridge.deliver(nudgeFrom(bridge, phone))
    await bridge.untilCounted('nudges_answered')
    bridge.deliver(nudgeFrom(bridge, phone, { issued_at: nowSeconds(bridge.clock) - 1 }))
    await bridge.untilCounted('nudges_ignored')
    bridge.deliver(nudgeFrom(bridge, tablet))
    await bridge.untilCounted('nudges_answered', 2)
    await bridge.clock.advance(29_999)
    bridge.deliver(nudgeFrom(bridge, phone))
    await bridge.untilCounted('nudges_ignored', 2)
    await bridge.clock.advance(1)
    bridge.deliver(nudgeFrom(bridge, phone))
    await bridge.untilCounted('nudges_answered', 3)
    await bridge.stop()
  })

  it('that waited at the relay is answered if it is alive by the host’s clock, a day at most', async () => {
    const bridge = await enrolled()
    await bridge.enroll(tablet)
    await bridge.stop()
    const now = nowSeconds(bridge.clock)
    const old = nudgeFrom(bridge, phone, { issued_at: now - 86_400 })
    const alive = nudgeFrom(bridge, tablet, { issued_at: now - 86_399 })
    await bridge.start([old, alive])
    await bridge.untilCounted('nudges_answered')
    await bridge.untilCounted('nudges_ignored')
    await bridge.stop()
  })

  it.each([
    ['dated over a minute ahead', (bridge: QuietBridge) => ({ issued_at: nowSeconds(bridge.clock) + 61 })],
    ['for another device', () => ({ device: tablet.publicKey })],
    ['in another mailbox', () => ({ mailbox: id(7) })],
  ] as const)('%s is ignored', async (_name, changes) => {
    const bridge = await enrolled()
    bridge.deliver(nudgeFrom(bridge, phone, changes(bridge)))
    await bridge.untilCounted('nudges_ignored')
    expect(presences(bridge)).toBe(1)
    await bridge.stop()
  })

  it('of a revoked device, or of a stranger, is ignored; of the owner it is not', async () => {
    const bridge = await enrolled()
    await bridge.enroll(tablet)
    await bridge.operator.revoke(tablet.publicKey)
    const before = presences(bridge, tablet)
    bridge.deliver(nudgeFrom(bridge, tablet))
    await bridge.untilCounted('nudges_ignored')
    bridge.deliver(nudgeFrom(bridge, stranger))
    await bridge.untilCounted('nudges_ignored', 2)
    bridge.deliver(nudgeFrom(bridge, owner))
    await bridge.untilCounted('nudges_answered')
    expect([presences(bridge, tablet), presences(bridge, stranger)]).toEqual([before, 0])
    await bridge.stop()
  })
})

describe('a nudge of the host', () => {
  /** Asks and lets the answer lie at a relay that never takes it. */
  const unanswered = async (bridge: QuietBridge, key: typeof phone, op: Operation) => {
    const question = bridge.sign(key, op, key === owner ? { grant: null, epoch: null } : {})
    bridge.deliver(question.event)
    await expect.poll(() => bridge.heard(question)).toBeGreaterThan(0)
  }

  it('goes to a device whose answer about an effect its relay never took, one in thirty seconds', async () => {
    const bridge = await enrolled()
    await unanswered(bridge, phone, create('Lost'))
    await unanswered(bridge, phone, create('Lost too'))
    expect(eventsTo(bridge, phone, 'nudge')).toEqual([])
    await bridge.clock.advance(60_000)
    await expect.poll(() => toldTo(bridge, phone, 'nudge').length).toBe(1)
    const [nudge] = toldTo(bridge, phone, 'nudge')
    expect(nudge).toMatchObject({ host: bridge.host, device: phone.publicKey })
    await bridge.clock.advance(29_000)
    expect(toldTo(bridge, phone, 'nudge').length).toBe(1)
    await bridge.clock.advance(60_000)
    expect(toldTo(bridge, phone, 'nudge').length).toBe(2)
    await bridge.clock.advance(120_000)
    expect(toldTo(bridge, phone, 'nudge').length).toBe(2)
    await bridge.stop()
  })

  it('is offered to its relay until that takes it, and sealed anew when it grew old', async () => {
    const bridge = await enrolled()
    await unanswered(bridge, phone, create('Lost'))
    await bridge.clock.advance(60_000)
    await expect.poll(() => eventsTo(bridge, phone, 'nudge').length).toBe(1)
    await bridge.clock.advance(1_000_000)
    expect(eventsTo(bridge, phone, 'nudge').length).toBe(2)
    const times = toldTo(bridge, phone, 'nudge').map((nudge) => nudge.issued_at)
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(900)
    await bridge.clock.advance(1_000_000)
    expect(eventsTo(bridge, phone, 'nudge').length).toBe(2)
    await bridge.stop()
  })

  it('goes to the owner too, and neither about a question nor to a device that was revoked', async () => {
    const bridge = await enrolled()
    await bridge.enroll(tablet)
    await unanswered(bridge, owner, create('Of the owner'))
    await unanswered(bridge, phone, { kind: 'workspace.list' })
    await unanswered(bridge, tablet, create('Of one that is gone'))
    await bridge.operator.revoke(tablet.publicKey)
    await bridge.clock.advance(60_000)
    await expect.poll(() => toldTo(bridge, owner, 'nudge').length).toBe(1)
    await bridge.clock.advance(60_000)
    expect([eventsTo(bridge, phone, 'nudge'), eventsTo(bridge, tablet, 'nudge')]).toEqual([[], []])
    await bridge.stop()
  })
})
