import { describe, expect, it } from 'vitest'
import { nudgeMailbox, presenceMailbox } from '../../src/protocol/mailbox.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { bridgeStage } from '../support/bridge-stage.ts'
import { testKey } from '../support/keys.ts'
import { quietBridge } from '../support/quiet-bridge.ts'
import { nudgeFrom } from '../support/told-by-host.ts'

describe('a nudge that waited at a relay while nobody listened', () => {
  it('is asked for after the gap, and answered with presence', async () => {
    const stage = await bridgeStage()
    try {
      const phone = await stage.device(13)
      const mailbox = presenceMailbox(phone.key.with(stage.host))
      const presences = () => phone.events.filter(({ tags }) => tags.some((tag) => tag[1] === mailbox)).length
      await expect.poll(presences).toBe(1)
      await stage.stop()
      const around = { host: stage.host, clock: systemClock }
      phone.send(nudgeFrom(around, phone.key, { issued_at: nowSeconds(systemClock) - 3_600 }))
      await stage.start()
      await stage.untilCounted('nudges_answered')
      // One at the start, and one for the nudge.
      await expect.poll(presences).toBe(3)
    } finally {
      await stage.end()
    }
  })

  it('is asked for in the mailboxes of the owner and of every enrolled device, a day back by the host’s clock', async () => {
    const phone = testKey(13)
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    await bridge.stop()
    await bridge.start()
    const asked = bridge.connection().sent.find(([kind]) => kind === 'REQ') ?? []
    const mailboxes = [testKey(12), phone].map((key) => nudgeMailbox(key.with(bridge.host)))
    const filter = asked.slice(2).find((one) => (one as { '#h'?: unknown })['#h'] !== undefined)
    expect(filter).toMatchObject({ kinds: [3188], '#p': [bridge.host], '#h': mailboxes })
    const { since } = filter as { since: number }
    expect(nowSeconds(bridge.clock) - since).toBeGreaterThanOrEqual(86_400)
    await bridge.stop()
  })
})
