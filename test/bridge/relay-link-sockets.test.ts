import { describe, expect, it } from 'vitest'
import { createRelayLink } from '../../src/bridge/relay-link.ts'
import { verifyEvent } from '../../src/protocol/signer.ts'
import { type Relay, startRelay } from '../../src/relay/listen.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { artifact } from '../support/artifact.ts'
import { rawClient } from '../support/raw-relay-client.ts'
import { host, phone, toHost } from './link-stage.ts'

describe('over real sockets', () => {
  it('is back after the relay was away, and has what was stored meanwhile, once', async () => {
    const start = (port: number): Promise<Relay> =>
      startRelay({ clock: systemClock, random: systemRandom, host: '127.0.0.1', port, serves: () => null })
    let relay = await start(0)
    const heard: string[] = []
    const real = createRelayLink({
      url: relay.url,
      signer: host.signer,
      clock: systemClock,
      random: systemRandom,
      dial: dialRelay,
      verify: verifyEvent,
      onEvent: (event) => void heard.push(event.id),
    })
    try {
      await real.ready
      expect(real.state().state).toBe('live')
      const before = toHost()
      const first = await rawClient(relay.url)
      await first.publish(before)
      await expect.poll(() => heard).toEqual([before.id])
      await relay.close()
      await expect.poll(() => real.state().state).toBe('waiting')
      relay = await start(relay.port)
      const second = await rawClient(relay.url)
      const meanwhile = [toHost(), toHost(), before]
      for (const event of meanwhile) await second.publish(event)
      await expect.poll(() => real.state().state, { timeout: 5_000 }).toBe('live')
      expect(new Set(heard)).toEqual(new Set(meanwhile.map(({ id }) => id)))
      expect(heard).toHaveLength(3)
      expect(await real.publish(artifact(host, phone.publicKey), nowSeconds(systemClock) + 60)).toEqual({
        outcome: 'accepted',
        duplicate: false,
      })
      second.close()
    } finally {
      real.close()
      await relay.close()
    }
  })

  it('renews without losing or doubling anything that arrives meanwhile', async () => {
    const relay = await startRelay({
      clock: systemClock,
      random: systemRandom,
      host: '127.0.0.1',
      port: 0,
      serves: () => [host.publicKey],
    })
    const heard: string[] = []
    const real = createRelayLink({
      url: relay.url,
      signer: host.signer,
      clock: systemClock,
      random: systemRandom,
      dial: dialRelay,
      verify: verifyEvent,
      onEvent: (event) => void heard.push(event.id),
      lifetimeSeconds: 0.1,
    })
    try {
      await real.ready
      const sender = await rawClient(relay.url)
      const sent = Array.from({ length: 150 }, () => toHost())
      for (const event of sent) await sender.publish(event)
      await expect.poll(() => heard.length, { timeout: 5_000 }).toBe(sent.length)
      await sender.query('later', { kinds: [1] })
      expect(heard.sort()).toEqual(sent.map(({ id }) => id).sort())
      expect(real.state().reconnects).toBe(0)
      sender.close()
      real.close()
      await expect.poll(() => relay.statistics().subscriptions).toBe(0)
    } finally {
      real.close()
      await relay.close()
    }
  })
})
