import { expect, test } from 'vitest'
import { createKeeper } from '../../src/device/keep.ts'
import type { HostLink } from '../../src/device/link.ts'
import { promised } from '../../src/device/promised.ts'
import { breathe } from '../../src/seams/clock.ts'
import { fakeClock } from '../support/fake-clock.ts'

const liveLink: HostLink = {
  live: Promise.resolve({ ok: true }),
  ended: promised<void>().promise,
  isOpen: () => true,
  ask: async () => ({ heard: 'silence', why: '', lost: true }),
  tell() {},
  retire() {},
  close() {},
}

function stage() {
  const clock = fakeClock()
  const renewals: number[] = []
  const keeper = createKeeper({
    clock,
    begin: async () => {},
    current: () => liveLink,
    async renew() {
      renewals.push(clock.nowMs())
      // A connection that is replaced without end would keep the test from ending.
      if (renewals.length > 10) keeper.stop()
    },
    lifetimeMs: 120_000,
  })
  return { clock, keeper, renewals }
}

test('a connection that is wanted again at once lives as long as any other', async () => {
  const { clock, keeper, renewals } = stage()
  const release = keeper.keep()
  await breathe()
  release()
  keeper.keep()
  await breathe()
  expect(renewals).toEqual([])
  await clock.advance(120_000)
  await breathe()
  expect(renewals).toHaveLength(1)
  keeper.stop()
})

test('a connection that nobody wants any more is not renewed', async () => {
  const { clock, keeper, renewals } = stage()
  const releases = [keeper.keep(), keeper.keep()]
  await breathe()
  releases[0]?.()
  await clock.advance(120_000)
  await breathe()
  expect(renewals).toHaveLength(1)
  releases[1]?.()
  await clock.advance(120_000)
  await breathe()
  expect(renewals).toHaveLength(1)
  expect(keeper.isKeeping()).toBe(false)
})
