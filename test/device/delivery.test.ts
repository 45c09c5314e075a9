import { beforeAll, describe, expect, it } from 'vitest'
import type { NewCommand, Sent } from '../../src/device/device.ts'
import { loadFastCrypto } from '../../src/protocol/signer.ts'
import { usualAnswer } from '../support/answering-host.ts'
import { dice } from '../support/dice.ts'
import type { Passing } from '../support/relay-in-memory.ts'
import { commandsHeard } from './commands-heard.ts'
import { simulatedStage } from './simulated-stage.ts'

const task = '7a'.repeat(32)
const message = (text: string, action: 'send' | 'queue' = 'queue'): NewCommand => ({
  task,
  action,
  text,
  based_on: 1,
})

beforeAll(() => loadFastCrypto())

describe('D3: the very first action after pairing', () => {
  it('is delivered in 200 runs with random delays', async () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const stage = await simulatedStage(seed)
      const luck = dice(seed)
      stage.relay.delayMs = () => luck.below(900)
      const device = await stage.openPaired(15_000)
      const first =
        seed % 2 === 0
          ? device.command(message('first', 'send'))
          : device.create({ title: 'First', prompt: 'Go.', workspace: 'demo' })
      const sent = await stage.run(first)
      expect([seed, sent.state]).toEqual([seed, 'accepted'])
      expect(stage.host.heard).toHaveLength(2)
      device.close()
    }
  }, 120_000)
})

describe('D4: frames that are dropped one way for a minute', () => {
  it.each(['up', 'down'] as const)(
    '(%s) leave the send unknown, never accepted, until it is delivered once',
    async (lost) => {
      const stage = await simulatedStage()
      const device = await stage.openPaired()
      stage.relay.passes = ({ whose, way }) => whose !== 'device' || way !== lost
      const states: Sent['state'][] = []
      const first = await stage.run(device.command(message('x')))
      states.push(first.state)
      for (let look = 0; look < 10; look += 1) {
        await stage.clock.advance(1_000)
        states.push(...(await stage.run(device.flush())).map(({ state }) => state))
      }
      expect(new Set(states)).toEqual(new Set(['unknown']))
      stage.relay.passes = () => true
      await stage.clock.advance(60_000)
      expect(await stage.run(device.flush())).toMatchObject([{ id: first.id, state: 'accepted' }])
      expect(new Set(commandsHeard(stage.host).map(({ command }) => command))).toEqual(new Set([first.id]))
    },
  )
})

describe('D13: an outbox that is held for 20 minutes', () => {
  it('is signed as it is sent, and taken by a relay that refuses what is older than a minute', async () => {
    const stage = await simulatedStage()
    const device = await stage.openPaired()
    const away = ({ whose }: Passing) => whose !== 'device'
    stage.relay.passes = away
    const givenAt = Math.floor(stage.clock.nowMs() / 1000)
    const sent = await stage.run(device.command(message('x')))
    expect(sent.state).toBe('unknown')
    await stage.clock.advance(20 * 60_000)
    stage.relay.passes = ({ way, frame, say }) => {
      const [type, event] = frame as [string, { id: string; created_at: number }]
      if (way === 'down' || type !== 'EVENT') return true
      if (stage.clock.nowMs() / 1000 - event.created_at <= 60) return true
      say('OK', event.id, false, 'invalid: too old')
      return false
    }
    expect(await stage.run(device.flush())).toMatchObject([{ id: sent.id, state: 'accepted' }])
    const [heard] = stage.host.heard.slice(-1)
    expect(heard?.event.created_at).toBeGreaterThan(givenAt + 1_190)
    const [command] = commandsHeard(stage.host)
    expect(command?.issued_at).toBeGreaterThanOrEqual(givenAt)
    expect(command?.issued_at).toBeLessThanOrEqual(givenAt + 1)
  })
})

describe('R4: what a relay says of a request', () => {
  const says: readonly (readonly [string, (passing: Passing) => boolean])[] = [
    ['OK', () => true],
    ['nothing', ({ way, frame }) => way === 'up' || frame[0] !== 'OK' || frame[2] !== true || isAuth(frame)],
    [
      'no, for now',
      ({ way, frame, say }) => {
        if (way === 'down' || frame[0] !== 'EVENT') return true
        say('OK', (frame[1] as { id: string }).id, false, 'rate-limited: slow down')
        return false
      },
    ],
  ]
  let auths: Set<unknown>
  const isAuth = (frame: readonly unknown[]): boolean => auths.has(frame[1])
  /** A host that says nothing, and a relay that says this to the device. */
  const muteStage = async (passes: (passing: Passing) => boolean) => {
    auths = new Set()
    const stage = await simulatedStage()
    const device = await stage.openPaired()
    stage.host.answer = () => null
    stage.relay.passes = (passing) => {
      if (passing.way === 'up' && passing.frame[0] === 'AUTH')
        auths.add((passing.frame[1] as { id: string }).id)
      return passing.whose !== 'device' || passes(passing)
    }
    return { stage, device }
  }

  it.each(says)('(%s) never makes it accepted while the host says nothing', async (_, passes) => {
    const { stage, device } = await muteStage(passes)
    expect(await stage.run(device.command(message('x')))).toMatchObject({ state: 'unknown' })
  })

  it.each(says.slice(1))('(%s) is told when nothing else is heard', async (what, passes) => {
    const { stage, device } = await muteStage(passes)
    const words = what === 'nothing' ? 'nor did the relay say that it took' : 'takes no more from this device'
    expect(await stage.run(device.command(message('x')))).toMatchObject({
      why: expect.stringContaining(words),
    })
  })

  it.each(['blocked', 'invalid', 'pow', 'restricted', 'auth-required'])(
    '(%s) is told at once, and the send remains unknown',
    async (prefix) => {
      const stage = await simulatedStage()
      const device = await stage.openPaired(30_000)
      stage.relay.passes = ({ whose, way, frame, say }) => {
        if (whose !== 'device' || way === 'down' || frame[0] !== 'EVENT') return true
        say('OK', (frame[1] as { id: string }).id, false, `${prefix}: of its own`)
        return false
      }
      const before = stage.clock.nowMs()
      const sent = await stage.run(device.command(message('x')))
      expect(sent).toMatchObject({
        state: 'unknown',
        why: expect.stringContaining(`(${prefix}): of its own`),
      })
      expect(stage.clock.nowMs() - before).toBeLessThan(5_000)
      stage.relay.passes = () => true
      expect(await stage.run(device.flush())).toMatchObject([{ id: sent.id, state: 'accepted' }])
    },
  )

  it('(no, for now) is asked again on the same connection, and taken', async () => {
    const stage = await simulatedStage()
    const device = await stage.openPaired(15_000)
    let refusals = 2
    stage.relay.passes = ({ whose, way, frame, say }) => {
      if (whose !== 'device' || way === 'down' || frame[0] !== 'EVENT' || refusals === 0) return true
      refusals -= 1
      say('OK', (frame[1] as { id: string }).id, false, 'rate-limited: slow down')
      return false
    }
    const dialled = stage.relay.dialled('device')
    expect(await stage.run(device.command(message('x')))).toMatchObject({ state: 'accepted' })
    expect(stage.relay.dialled('device')).toBe(dialled + 1)
    expect(commandsHeard(stage.host)).toHaveLength(1)
  })
})

describe('P5: a host whose clock lags', () => {
  it.each([-60, -30, 59])('by %i s is heard, at once and from the store of the relay', async (ahead) => {
    const stage = await simulatedStage()
    const device = await stage.openPaired(20_000)
    // Both clocks in seconds: at the very edge a fraction decides.
    stage.host.aheadSeconds = ahead
    expect(await stage.run(device.command(message('live')))).toMatchObject({ state: 'accepted' })
    // The connection breaks before the answer comes; the last moment of the request is when it is read.
    let cutting = true
    stage.relay.passes = ({ whose, way, frame, cut }) => {
      if (whose !== 'device' || !cutting) return true
      if (way === 'down' && frame[0] === 'EVENT') {
        cut()
        return false
      }
      return true
    }
    const sent = await stage.run(device.command(message('stored')))
    expect(sent.state).toBe('unknown')
    await stage.clock.advance(35_000)
    cutting = false
    stage.host.answer = () => null
    expect((await stage.run(device.flush())).at(-1)).toMatchObject({ id: sent.id, state: 'accepted' })
    stage.host.answer = (heard) => usualAnswer(stage.host, heard)
  })

  it('by 90 s gets no request past it, and the device says so in words', async () => {
    const stage = await simulatedStage()
    const device = await stage.openPaired()
    const { device: me } = await device.whoami()
    stage.host.aheadSeconds = -90
    stage.host.onHeard = () => stage.host.publishPresence(me)
    expect(await stage.run(device.command(message('x')))).toMatchObject({
      state: 'unknown',
      why: expect.stringMatching(/about 90 seconds ahead of the host's/),
    })
  })
})
