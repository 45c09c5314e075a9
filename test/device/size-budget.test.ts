import * as nip44 from 'nostr-tools/nip44'
import { describe, expect, it } from 'vitest'
import { requestBody } from '../../src/device/request.ts'
import { eventBytesMax } from '../../src/limits.ts'
import { sealedBytes } from '../../src/protocol/envelope.ts'
import { eventJson } from '../../src/protocol/event.ts'
import type { NewTask } from '../../src/protocol/operations/tasks.ts'
import { isRefusal } from '../../src/protocol/refusal.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import { refused } from '../support/refusals.ts'
import { clock, host, open, openPaired, relay } from './device-stage.ts'

/** A create whose JSON grows by one byte with each step: a quote takes two. */
const sized = (bytes: number): NewTask => {
  const quotes = Math.max(0, bytes - 16_384)
  return { title: 'T', prompt: '"'.repeat(quotes) + 'x'.repeat(16_384 - quotes), workspace: 'demo' }
}

/** The most bytes that a create of this device may have, found with the device's own measure. */
function budget(): number {
  const to = { host: host.key.publicKey, relay: relay.url, grant: { grant: '1a'.repeat(32), epoch: 0 } }
  const fits = (bytes: number): boolean => {
    try {
      const op = { kind: 'task.create', task: sized(bytes) } as const
      requestBody({ to, op, request: '3c'.repeat(32), now: nowSeconds(clock), policy: 'loopback_test' })
      return true
    } catch (error) {
      if (isRefusal(error, 'bounds')) return false
      throw error
    }
  }
  let low = 16_384
  let high = 32_768
  expect([fits(low), fits(high)]).toEqual([true, false])
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle
  }
  return low
}

describe('R7: a request', () => {
  it.each([-1, 0])(
    'of the budget and %i bytes is sent, within 48 KiB, and read by other libraries',
    async (more) => {
      const device = await openPaired(5_000)
      expect(await device.create(sized(budget() + more))).toMatchObject({ state: 'accepted' })
      const heard = host.heard.at(-1)
      if (heard === undefined) throw new Error('nothing was heard')
      const bytes = Buffer.byteLength(eventJson(heard.event))
      expect(bytes).toBeLessThanOrEqual(eventBytesMax)
      expect(bytes).toBe(sealedBytes(heard.request, heard.request.issued_at, heard.request.expires_at))
      const plain = nip44.decrypt(heard.event.content, host.key.with(heard.event.pubkey))
      expect(plain.length).toBeGreaterThan(32_700)
      expect(JSON.parse(plain).inline.op.kind).toBe('task.create')
    },
  )

  it('of one byte more is refused with the numbers before anything is kept', async () => {
    await openPaired()
    const device = await open(5_000)
    const refusal = await refused('bounds', device.create(sized(budget() + 1)))
    expect(refusal.message).toMatch(
      new RegExp(`^the signed request of \\d{5} bytes is over ${eventBytesMax}$`),
    )
    expect(await device.outbox()).toEqual([])
    expect(host.heard).toHaveLength(1)
  })
})
