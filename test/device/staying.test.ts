import { describe, expect, it } from 'vitest'
import type { Device, NewCommand } from '../../src/device/device.ts'
import { usualAnswer } from '../support/answering-host.ts'
import { commandsHeard } from './commands-heard.ts'
import { type SimulatedStage, simulatedStage } from './simulated-stage.ts'

const task = '7a'.repeat(32)
const message = (text: string): NewCommand => ({ task, action: 'queue', text, based_on: 1 })

/** A device with one message that the host did not answer, and a host that would answer now. */
async function withWaiting(): Promise<{
  stage: SimulatedStage
  device: Device
  me: string
  attempts: () => number
}> {
  const stage = await simulatedStage()
  const device = await stage.openPaired()
  const { device: me } = await device.whoami()
  stage.host.answer = () => null
  await stage.run(device.command(message('x')))
  return { stage, device, me, attempts: () => commandsHeard(stage.host).length }
}

describe('a device that stays', () => {
  it('sends what waits as soon as it is connected, and again every minute', async () => {
    const { stage, device, attempts } = await withWaiting()
    const stop = new AbortController()
    const staying = device.stay({}, stop.signal)
    await stage.clock.advance(1_000)
    stage.host.heard.length = 0
    await stage.clock.advance(180_000)
    expect(attempts()).toBeGreaterThanOrEqual(2)
    expect(attempts()).toBeLessThanOrEqual(5)
    stage.host.answer = (heard) => usualAnswer(stage.host, heard)
    await stage.clock.advance(70_000)
    expect(await device.outbox()).toMatchObject([{ state: 'accepted' }])
    stop.abort()
    await stage.run(staying)
  })

  it.each([
    ['a presence that is newer', (stage: SimulatedStage, me: string) => stage.host.publishPresence(me, 2)],
    [
      'a nudge of the host',
      (stage: SimulatedStage, me: string) => stage.host.publish(stage.host.nudgeFor(me)),
    ],
  ])('sends what waits again at once on %s', async (_, show) => {
    const { stage, device, me } = await withWaiting()
    stage.host.publishPresence(me)
    const stop = new AbortController()
    const staying = device.stay({}, stop.signal)
    // The first look is over, and the next would come a minute later.
    await stage.clock.advance(8_000)
    stage.host.answer = (heard) => usualAnswer(stage.host, heard)
    await stage.clock.advance(3_000)
    expect(await device.outbox()).toMatchObject([{ state: 'unknown' }])
    show(stage, me)
    await stage.clock.advance(1_000)
    expect(await device.outbox()).toMatchObject([{ state: 'accepted' }])
    stop.abort()
    await stage.run(staying)
  })

  it.each([
    ['a presence that is older', (stage: SimulatedStage, me: string) => stage.host.publishPresence(me, 1)],
    [
      'a presence that is too far ahead',
      (stage: SimulatedStage, me: string) => {
        stage.host.aheadSeconds = 31
        stage.host.publishPresence(me, 3)
      },
    ],
    ['a nudge that was heard', (stage: SimulatedStage) => repeat(stage)],
    ['what a new connection hears again', (stage: SimulatedStage) => stage.relay.cut('device')],
    [
      'a nudge for another',
      (stage: SimulatedStage, me: string) =>
        stage.host.publish(stage.host.nudgeFor(me, { device: '0b'.repeat(32) })),
    ],
  ])('sends nothing again on %s', async (_, show) => {
    const { stage, device, me, attempts } = await withWaiting()
    stage.host.publishPresence(me, 2)
    stage.host.publish(stage.host.nudgeFor(me))
    const stop = new AbortController()
    const staying = device.stay({}, stop.signal)
    await stage.clock.advance(20_000)
    const before = attempts()
    show(stage, me)
    await stage.clock.advance(1_000)
    expect(attempts()).toBe(before)
    stop.abort()
    await stage.run(staying)
  })

  it('comes back by itself, and trusts no connection for more than two minutes', async () => {
    const { stage, device } = await withWaiting()
    stage.host.answer = (heard) => usualAnswer(stage.host, heard)
    const stop = new AbortController()
    const staying = device.stay({}, stop.signal)
    await stage.clock.advance(1_000)
    const dialled = stage.relay.dialled('device')
    await stage.clock.advance(121_000)
    expect(stage.relay.dialled('device')).toBe(dialled + 1)
    expect(stage.relay.connected('device')).toBe(1)
    // The relay goes away for a while.
    let away = true
    stage.relay.passes = ({ whose, cut }) => {
      if (whose !== 'device' || !away) return true
      cut()
      return false
    }
    stage.relay.cut('device')
    await stage.clock.advance(200_000)
    const tries = stage.relay.dialled('device') - dialled - 1
    expect(tries).toBeGreaterThan(3)
    expect(tries).toBeLessThan(15)
    away = false
    await stage.clock.advance(61_000)
    expect(stage.relay.connected('device')).toBe(1)
    stop.abort()
    await stage.run(staying)
    device.close()
    expect(stage.relay.connected('device')).toBe(0)
  })

  it('says when the host shows itself and when it has not for three minutes', async () => {
    const stage = await simulatedStage()
    const device = await stage.openPaired()
    const { device: me } = await device.whoami()
    const stop = new AbortController()
    const said: string[] = []
    const staying = device.stay({ host: (is) => said.push(is) }, stop.signal)
    await stage.clock.advance(1_000)
    for (let minute = 0; minute < 3; minute += 1) {
      stage.host.publishPresence(me)
      await stage.clock.advance(60_000)
    }
    expect(said).toEqual(['here'])
    await stage.clock.advance(119_000)
    expect(said).toEqual(['here'])
    await stage.clock.advance(3_000)
    expect(said).toEqual(['here', 'stale'])
    stage.host.publishPresence(me)
    await stage.clock.advance(1_000)
    expect(said).toEqual(['here', 'stale', 'here'])
    stop.abort()
    await stage.run(staying)
  })
})

describe('a durable send that ends unknown', () => {
  it('nudges the host, at most once in 30 s over all processes', async () => {
    const { stage, device } = await withWaiting()
    expect(stage.host.nudges).toHaveLength(1)
    await stage.run(device.flush())
    const other = await stage.run(stage.open())
    await stage.run(other.flush())
    expect(stage.host.nudges).toHaveLength(1)
    await stage.clock.advance(30_000)
    await stage.run(other.flush())
    expect(stage.host.nudges).toHaveLength(2)
  })

  it('nudges nobody when it was accepted, or when no relay is at hand', async () => {
    const stage = await simulatedStage()
    const device = await stage.openPaired()
    await stage.run(device.command(message('x')))
    stage.relay.passes = ({ whose }) => whose !== 'device'
    await stage.run(device.command(message('y')))
    expect(stage.host.nudges).toEqual([])
  })
})

/** A relay that gives the host's nudge out once more. */
function repeat({ relay, host }: SimulatedStage): void {
  const event = relay.published.findLast((one) => one.pubkey === host.key.publicKey)
  if (event === undefined) throw new Error('no nudge')
  relay.sayToAll('device', event)
}
