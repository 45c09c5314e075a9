import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/protocol/operations.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { randomId, systemRandom } from '../../src/seams/random.ts'
import { type BridgeStage, bridgeStage } from '../support/bridge-stage.ts'
import { testKey } from '../support/keys.ts'
import { until } from '../support/until.ts'
import type { WirePeer } from '../support/wire-peer.ts'
import { type LyingRelay, lyingRelay, type Manner } from './lying-relay.ts'

const intent = { title: 'Greet', prompt: 'Say hello.', workspace: 'site' }

let liar: LyingRelay
let stage: BridgeStage
let phone: WirePeer
let tablet: WirePeer

beforeEach(async () => {
  liar = await lyingRelay()
})

/** The host serves an honest relay and the liar; two devices live on the honest one. */
async function begin(place: 'first' | 'second' = 'second'): Promise<void> {
  let honest = ''
  stage = await bridgeStage((embedded) => {
    honest = embedded
    return place === 'first' ? [liar.url, honest] : [honest, liar.url]
  })
  phone = await stage.device(13, ['observe', 'operate'], honest)
  tablet = await stage.device(14, ['observe', 'operate'], honest)
}

afterEach(async () => {
  await liar.close()
  await stage.end()
})

describe('a host on two relays, of which one', () => {
  it.each<[Manner, 'first' | 'second']>([
    ['lies', 'second'],
    ['mute', 'first'],
    ['deaf', 'second'],
    ['dies', 'first'],
  ])('%s and is the %s: the devices of the other notice nothing', async (manner, place) => {
    await begin(place)
    liar.manner = manner
    const before = liar.dialled()
    for (let cut = 0; cut < 3; cut += 1) {
      liar.cut()
      await workDay()
    }
    // The host was at the liar's door all the while, or will be after its pause.
    await until(() => liar.dialled() > before)
    await workDay()
    expect(await stage.counted('failed')).toBe(0)
  })

  it('shows what is not for the host, what is not signed, and requests for the other relay: nothing is answered', async () => {
    await begin()
    const create: Operation = { kind: 'task.create', task: intent }
    const forOther = phone.sign(create)
    const fresh = phone.sign(create, { relay: liar.url })
    const stranger = testKey(99)
    liar.shown = [
      forOther.event,
      { ...fresh.event, pubkey: tablet.key.publicKey },
      stranger.signer.sign({ kind: 3188, created_at: 1, tags: [['p', stage.host]], content: 'x' }),
      stranger.signer.sign({ kind: 1, created_at: 1, tags: [], content: 'x' }),
    ]
    const answered = await stage.counted('answered')
    liar.cut()
    await stage.untilCounted('other_relay')
    await stage.untilCounted('bad_signature')
    expect(await stage.counted('answered')).toBe(answered)
    expect(await titlesOf(phone)).toEqual([])
    await workDay()
  })

  it('takes an answer and keeps it from its device: the command sent again over the other is the same one', async () => {
    await begin()
    const created = await phone.ask({ kind: 'task.create', task: intent })
    if (created.status !== 'ok' || created.outcome.kind !== 'dispatched') throw new Error('not created')
    const task = created.outcome.receipt.reference
    const command = commandTo(task)
    const lost = phone.sign({ kind: 'task.command', command }, { relay: liar.url })
    liar.shown = [lost.event]
    liar.cut()
    await until(() => liar.given.some(({ tags }) => tags.some(([, value]) => value === lost.request)))
    expect(phone.heard(lost.request)).toBe(0)
    expect(await phone.ask({ kind: 'task.command', command })).toMatchObject({ status: 'ok' })
    expect(await phone.ask({ kind: 'task.queue', task, edit: { action: 'list' } })).toMatchObject({
      outcome: { queue: { items: [{ command: command.command }] } },
    })
  })
})

function commandTo(task: string) {
  const issued_at = nowSeconds(systemClock)
  const command = randomId(systemRandom)
  const said = { action: 'queue', based_on: 1, text: 'And goodbye.', emulate: false } as const
  return { command, task, ...said, issued_at }
}

/** Both devices create, command and look, at the same time; each is answered once and rightly. */
async function workDay(): Promise<void> {
  await Promise.all(
    [phone, tablet].map(async (device) => {
      const created = device.sign({ kind: 'task.create', task: intent })
      device.send(created.event)
      const reply = device.open(await device.replyTo(created.request))
      if (reply.result.status !== 'ok' || reply.result.outcome.kind !== 'dispatched')
        throw new Error('not created')
      const task = reply.result.outcome.receipt.reference
      const commands = Array.from({ length: 4 }, () => commandTo(task))
      for (const command of commands)
        expect(await device.ask({ kind: 'task.command', command })).toMatchObject({ status: 'ok' })
      const queue = await device.ask({ kind: 'task.queue', task, edit: { action: 'list' } })
      const items = commands.map(({ command, text }) => ({ command, text }))
      expect(queue).toMatchObject({ status: 'ok', outcome: { queue: { items } } })
      expect(device.heard(created.request)).toBe(1)
    }),
  )
}

async function titlesOf(device: WirePeer): Promise<string[]> {
  const query = { workspace: 'site', cursor: null, limit: 32 }
  const result = await device.ask({ kind: 'task.list', query })
  if (result.status !== 'ok' || result.outcome.kind !== 'tasks') throw new Error('not listed')
  return result.outcome.tasks.items.map(({ title }) => title)
}
