import { describe, expect, it } from 'vitest'
import type { Device } from '../../src/device/device.ts'
import { openOwner } from '../../src/device/owner/client.ts'
import { signerField } from '../../src/device/remote-signer/messages.ts'
import { createConversationKeys } from '../../src/protocol/conversation-keys.ts'
import { Refusal } from '../../src/protocol/refusal.ts'
import { localSealer, type Sealer } from '../../src/protocol/sealer.ts'
import { deviceTaskId } from '../../src/protocol/task-id.ts'
import { systemRandom } from '../../src/seams/random.ts'
import type { DialRelay } from '../../src/seams/relay-socket.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { realDisk } from '../../src/store/disk.ts'
import { testKey } from '../support/keys.ts'
import { refused } from '../support/refusals.ts'
import { until } from '../support/until.ts'
import { clock, commandsHeard, dir, host, relay, task } from './device-stage.ts'

const ownerKey = testKey(12)
const here = localSealer(ownerKey.signer, createConversationKeys(ownerKey.secret, 4), systemRandom)
const denied = () => Promise.reject(new Refusal('denied', 'the signer said no', { field: signerField }))

function open(changes: Partial<Sealer> = {}, waitMs = 5_000, dial = dialRelay): Promise<Device> {
  const seams = { disk: realDisk, clock, random: systemRandom, dial }
  const place = { dir, policy: 'loopback_test' as const, host: host.key.publicKey, relay: relay.url }
  return openOwner({ ...seams, ...place, waitMs, sealer: { ...here, ...changes } })
}

describe('the owner of a host', () => {
  it('asks without a grant, and is answered as a device is', async () => {
    const owner = await open()
    expect(await owner.workspaces()).toEqual(['demo', 'site'])
    expect(host.heard).toMatchObject([
      { event: { pubkey: ownerKey.publicKey }, request: { grant: null, epoch: null, relay: relay.url } },
    ])
    expect(await owner.whoami()).toEqual({ device: ownerKey.publicKey, paired: null })
    await refused('forbidden', owner.redeem('coder-host:x'))
    owner.close()
  })

  it('keeps what it sends until it is answered, and sends it again under the same ID', async () => {
    host.answer = () => null
    const first = await open({}, 300)
    const created = await first.create({ title: 'Lower it', prompt: 'Lower it.', workspace: 'site' })
    expect(created).toMatchObject({ state: 'unknown', task: deviceTaskId(ownerKey.publicKey, created.id) })
    await first.command({ task, action: 'queue', text: 'Then rest.' })
    first.close()
    host.answer = ({ request: { op } }) => ({
      status: 'ok',
      outcome: {
        kind: 'dispatched',
        receipt: { operation: op.kind, reference: op.kind === 'task.command' ? task : created.task },
      },
    })
    // Not before the first request is over by every clock.
    clock.advance(130_000)
    const again = await open()
    expect((await again.flush()).map(({ state }) => state)).toEqual(['accepted', 'accepted'])
    expect(new Set(commandsHeard().map(({ command }) => command)).size).toBe(1)
    const creates = host.heard.filter(({ request }) => request.op.kind === 'task.create')
    expect(new Set(creates.map(({ request }) => request.request))).toEqual(new Set([created.id]))
    expect(creates).toHaveLength(2)
    again.close()
  })

  it('signs a request anew that took too long to be signed, and sends only the fresh one', async () => {
    let slow = 2
    const owner = await open({
      async sign(template) {
        if (template.kind === 3_188 && slow > 0) {
          slow -= 1
          clock.advance(41_000)
        }
        return here.sign(template)
      },
    })
    expect(await owner.workspaces()).toEqual(['demo', 'site'])
    expect(host.heard).toHaveLength(1)
    expect(Math.abs((host.heard[0]?.request.issued_at ?? 0) - clock.nowMs() / 1000)).toBeLessThan(10)
    owner.close()
  })

  it('gives up, with nothing sent, when it is never signed in time', async () => {
    const owner = await open({
      sign(template) {
        if (template.kind === 3_188) clock.advance(41_000)
        return here.sign(template)
      },
    })
    const { message } = await refused('timeout', owner.workspaces())
    expect(message).toContain('nothing was sent')
    expect(host.heard).toEqual([])
    owner.close()
  })

  it('keeps what its signer did not want to sign, and says so', async () => {
    const unwilling = await open({ encrypt: denied })
    const created = await unwilling.create({ title: 'Lower it', prompt: 'Lower it.', workspace: 'site' })
    expect(created).toMatchObject({ state: 'unknown', why: 'the signer said no' })
    await refused('denied', unwilling.workspaces())
    expect(host.heard).toEqual([])
    unwilling.close()
    const willing = await open()
    expect(await willing.flush()).toMatchObject([{ id: created.id, state: 'accepted' }])
    willing.close()
  })

  it('is not held to the time that a person took to agree', async () => {
    const owner = await open(
      {
        async encrypt(peer, text) {
          await new Promise((resolve) => setTimeout(resolve, 600))
          return here.encrypt(peer, text)
        },
      },
      500,
    )
    expect(await owner.workspaces()).toEqual(['demo', 'site'])
    owner.close()
  })

  it('proves who it is to a relay once; a signer that says no is not asked by every connection', async () => {
    let asked = 0
    const owner = await open(
      {
        sign(template) {
          if (template.kind !== 22_242) return here.sign(template)
          asked += 1
          return denied()
        },
      },
      2_000,
    )
    const { message } = await refused('timeout', owner.workspaces())
    expect(message).toContain('the signer said no')
    expect(asked).toBe(1)
    owner.close()
  })

  it('says at once that an answer came which its signer did not open', async () => {
    const owner = await open({ decrypt: denied }, 20_000)
    const { message } = await refused('timeout', owner.workspaces())
    expect(message).toBe('an answer came, and was not opened: the signer said no')
    owner.close()
  })

  it('has its signer open nothing but what the host put where the answer belongs', async () => {
    let opened = 0
    const decrypt: Sealer['decrypt'] = (peer, payload) => {
      opened += 1
      return here.decrypt(peer, payload)
    }
    // A relay that adds to each answer one of a stranger's and one whose signature is not its own.
    const lying: DialRelay = (url, events) =>
      dialRelay(url, {
        ...events,
        message(text) {
          const [type, subscription, event] = JSON.parse(text)
          if (type === 'EVENT') {
            const forged = [testKey(33).signer.sign(event), { ...event, sig: '0'.repeat(128) }]
            for (const one of forged) events.message(JSON.stringify(['EVENT', subscription, one]))
          }
          events.message(text)
        },
      })
    const owner = await open({ decrypt }, 5_000, lying)
    host.publishPresence(ownerKey.publicKey)
    expect(await owner.workspaces()).toEqual(['demo', 'site'])
    expect(opened).toBe(1)
    owner.close()
  })

  /** A relay that refuses the first requests of a connection with these words. */
  const refusing = (words: string, times: number): DialRelay => {
    let left = times
    return (url, events) => {
      const socket = dialRelay(url, events)
      return {
        ...socket,
        send(text) {
          const [type, event] = JSON.parse(text)
          if (type !== 'EVENT' || left === 0) return socket.send(text)
          left -= 1
          events.message(JSON.stringify(['OK', event.id, false, words]))
        },
      }
    }
  }

  it('asks again on the same connection when the relay takes no more for now', async () => {
    const owner = await open({}, 10_000, refusing('rate-limited: slow down', 1))
    expect(await owner.workspaces()).toEqual(['demo', 'site'])
    expect(host.heard).toHaveLength(1)
    owner.close()
  })

  it('is told at once of a relay that will never take its request', async () => {
    const owner = await open({}, 50_000, refusing('blocked: not you', 1))
    const { message } = await refused('timeout', owner.workspaces())
    expect(message).toContain('(blocked): not you')
    owner.close()
  })

  it('takes no answer about another request', async () => {
    const owner = await open({}, 400)
    const late: Parameters<typeof host.send>[0][] = []
    host.send = (event) => void late.push(event)
    await refused('timeout', owner.workspaces())
    host.send = () => {
      for (const event of late) host.publish(event)
    }
    await refused('timeout', owner.workspaces())
    await until(() => host.heard.length === 2)
    owner.close()
  })
})
