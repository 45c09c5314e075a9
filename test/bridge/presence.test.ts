import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nowSeconds } from '../../src/seams/clock.ts'
import type { MachineLoad } from '../../src/seams/telemetry.ts'
import { testKey } from '../support/keys.ts'
import { quietBridge } from '../support/quiet-bridge.ts'
import { eventsTo, toldTo } from '../support/told-by-host.ts'

const phone = testKey(13)
const tablet = testKey(14)
const owner = testKey(12)

describe('presence', () => {
  it('goes to every enrolled device, whatever it may do, and to nobody else', async () => {
    const bridge = await quietBridge()
    const [gone, late] = [testKey(16), testKey(17)]
    await bridge.enroll(phone)
    await bridge.enroll(tablet, ['operate'])
    await bridge.enroll(gone)
    await bridge.enroll(late, ['observe'], 400)
    await bridge.operator.revoke(gone.publicKey)
    await bridge.clock.advance(340_000)
    const before = [gone, late].map((key) => eventsTo(bridge, key, 'presence').length)
    await bridge.clock.advance(60_000)
    const told = [phone, tablet].map((key) => toldTo(bridge, key, 'presence').at(-1)?.observed_at)
    expect(told).toEqual([nowSeconds(bridge.clock) - 40, nowSeconds(bridge.clock) - 40])
    expect(eventsTo(bridge, gone, 'presence').length).toBe(before[0])
    expect(eventsTo(bridge, owner, 'presence')).toEqual([])
    await bridge.clock.advance(60_000)
    expect(eventsTo(bridge, late, 'presence').length).toBe((before[1] ?? 0) + 1)
    await bridge.stop()
  })

  it('is dated when it was observed, kept 300 s, and says who the host is and what it can do', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    await expect.poll(() => eventsTo(bridge, phone, 'presence').length).toBe(1)
    const [event] = eventsTo(bridge, phone, 'presence')
    const [presence] = toldTo(bridge, phone, 'presence')
    expect(event?.created_at).toBe(presence?.observed_at)
    expect(presence).toMatchObject({
      host: bridge.host,
      owner: owner.publicKey,
      generation: 1,
      protocol: 1,
      compatibility: { min: 1, max: 1 },
      telemetry: null,
    })
    expect(presence?.capabilities).toEqual([...(presence?.capabilities ?? [])].sort())
    await bridge.stop()
  })

  it('counts each start before it is announced, so that one that was killed counts too', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    for (const generation of [2, 3]) {
      await bridge.stop()
      await bridge.start()
      const file = await readFile(join(bridge.home, 'host', 'generation.json'), 'utf8')
      expect(JSON.parse(file)).toMatchObject({ generation })
      await expect.poll(() => toldTo(bridge, phone, 'presence').at(-1)?.generation).toBe(generation)
    }
    await bridge.stop()
  })

  it('is the newest only for a relay that takes nothing for a while', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    await bridge.clock.advance(600_000)
    const all = eventsTo(bridge, phone, 'presence').map(({ id }) => id)
    expect(all.length).toBe(11)
    const before = bridge.published().length
    await bridge.clock.advance(59_000)
    const offered = new Set(
      bridge
        .published()
        .slice(before)
        .map(({ id }) => id),
    )
    expect(all.filter((id) => offered.has(id))).toEqual(all.slice(-1))
    await bridge.stop()
  })

  it('tells the load of the machine where there is one to tell', async () => {
    let load: MachineLoad | null = null
    const bridge = await quietBridge({ telemetry: { read: () => load } })
    await bridge.enroll(phone)
    await expect.poll(() => toldTo(bridge, phone, 'presence').at(-1)?.telemetry).toBe(null)
    load = { cpu_count: 2, cpu_utilization_pct: 12, memory_available_pct: 80 }
    await bridge.clock.advance(60_000)
    await expect.poll(() => toldTo(bridge, phone, 'presence').at(-1)?.telemetry).toEqual(load)
    await bridge.stop()
  })
})
