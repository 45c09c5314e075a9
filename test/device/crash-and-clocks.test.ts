import { describe, expect, it } from 'vitest'
import type { Disk } from '../../src/seams/disk.ts'
import { realDisk } from '../../src/store/disk.ts'
import { refused } from '../support/refusals.ts'
import { commandsHeard, host, open, openPaired, relay, task } from './device-stage.ts'

describe('a crash', () => {
  it('at any write loses nothing that was accepted for sending and doubles nothing', async () => {
    await openPaired()
    for (let cutAt = 1; ; cutAt += 1) {
      host.heard.length = 0
      const cut = cuttingDisk(cutAt)
      let finished = true
      try {
        const device = await open(5_000, cut)
        await device.command({ task, action: 'queue', text: `cut at ${cutAt}`, based_on: 1 })
      } catch {
        finished = false
      }
      const after = await open(5_000)
      const standing = await after.flush()
      expect(standing.every(({ state }) => state === 'accepted')).toBe(true)
      const heard = commandsHeard()
      expect(new Set(heard.map(({ command }) => command)).size).toBeLessThanOrEqual(1)
      for (const { command } of heard) expect(standing.map(({ id }) => id)).toContain(command)
      if (finished) {
        expect(cutAt).toBeGreaterThan(3)
        return
      }
    }
  })
})

describe('P4: clocks that disagree', () => {
  it.each([
    [61, '6[0-2] seconds behind'],
    [600, '10 minutes behind'],
    [86_400, '24 hours behind'],
    [-61, '6[0-2] seconds ahead of'],
    [-600, '10 minutes ahead of'],
    [-86_400, '24 hours ahead of'],
  ])('by %i seconds are named in words when the host shows itself', async (aheadSeconds, words) => {
    const device = await openPaired(1_000)
    const { device: me } = await device.whoami()
    host.aheadSeconds = aheadSeconds
    host.onHeard = () => host.publishPresence(me)
    const sent = await device.command({ task, action: 'queue', text: 'x', based_on: 1 })
    expect(sent).toMatchObject({ state: 'unknown', why: expect.stringMatching(words) })
  })

  it('say so from a stored presence alone, as far as it can tell', async () => {
    const device = await openPaired(1_000)
    const { device: me } = await device.whoami()
    host.aheadSeconds = 600
    host.publishPresence(me)
    await expect.poll(() => relay.statistics().events).toBe(3)
    expect(await device.command({ task, action: 'queue', text: 'x', based_on: 1 })).toMatchObject({
      why: expect.stringContaining('10 minutes behind'),
    })
    host.aheadSeconds = -600
    host.publishPresence(me, 2)
    // The command that went unanswered was followed by a nudge.
    await expect.poll(() => relay.statistics().events).toBe(6)
    expect((await (await open(1_000)).flush())[0]).toMatchObject({
      why: expect.stringContaining('10 minutes ago'),
    })
  })

  it.each([-55, 55])('by %i seconds do not matter', async (aheadSeconds) => {
    const device = await openPaired(5_000)
    host.aheadSeconds = aheadSeconds
    const sent = await device.command({ task, action: 'queue', text: 'x', based_on: 1 })
    expect(sent.state).toBe('accepted')
  })

  it.each([
    [90, 'stale', 'behind'],
    [-301, 'expired', 'ahead'],
  ] as const)('by %i seconds are found at the invitation', async (aheadSeconds, code, word) => {
    host.aheadSeconds = aheadSeconds
    const refusal = await refused(code, (await open()).redeem(host.invite().code))
    expect(refusal.message).toContain(word)
    expect(host.heard).toEqual([])
  })
})

/** A disk whose power goes out at the given durable write, and stays out. */
function cuttingDisk(cutAt: number): Disk {
  let writes = 0
  const powered = <A extends unknown[], R>(write: (...args: A) => Promise<R>) => {
    return (...args: A): Promise<R> => {
      writes += 1
      return writes >= cutAt ? Promise.reject(new Error('power cut')) : write(...args)
    }
  }
  return { ...realDisk, replace: powered(realDisk.replace), create: powered(realDisk.create) }
}
