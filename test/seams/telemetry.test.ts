import { describe, expect, it } from 'vitest'
import { parseBody } from '../../src/protocol/body.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { systemTelemetry } from '../../src/seams/telemetry.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { validBody } from '../support/host-fixtures.ts'

/** A machine of two processors whose counters the test sets. */
function machine() {
  let busy = 0
  let idle = 0
  const times = () => ({ times: { user: busy, nice: 0, sys: 0, irq: 0, idle } })
  return {
    work(busyMs: number, idleMs: number) {
      busy += busyMs
      idle += idleMs
    },
    cpus: () => [times(), times()],
    freemem: () => 3_000,
    totalmem: () => 4_000,
  }
}

describe('the load of the machine', () => {
  it('is unknown until there is a time to measure, then that of the time since the reading before', () => {
    const clock = fakeClock()
    const made = machine()
    const telemetry = systemTelemetry(clock, made)
    expect(telemetry.read()).toBe(null)
    clock.jump(60_000)
    made.work(15_000, 45_000)
    const quarter = { cpu_count: 2, cpu_utilization_pct: 25, memory_available_pct: 75 }
    expect(telemetry.read()).toEqual(quarter)
    clock.jump(999)
    made.work(999, 0)
    expect(telemetry.read()).toEqual(quarter)
    clock.jump(60_000)
    made.work(60_000, 0)
    expect(telemetry.read()).toMatchObject({ cpu_utilization_pct: 100 })
  })

  it('stays unknown on a machine that says nothing of its processors', () => {
    const clock = fakeClock()
    const telemetry = systemTelemetry(clock, { ...machine(), cpus: () => [] })
    clock.jump(60_000)
    expect(telemetry.read()).toBe(null)
  })

  it('of this machine is one that presence can carry', () => {
    let ahead = 0
    const telemetry = systemTelemetry({ ...systemClock, nowMs: () => systemClock.nowMs() + ahead })
    ahead = 60_000
    const until = Date.now() + 2_000
    let load = telemetry.read()
    while (load === null && Date.now() < until) {
      ahead += 1_000
      load = telemetry.read()
    }
    expect(
      parseBody('presence', { ...validBody('presence'), telemetry: load }, 'production').telemetry,
    ).toEqual(load)
    expect(load?.cpu_count).toBeGreaterThan(0)
  })
})
