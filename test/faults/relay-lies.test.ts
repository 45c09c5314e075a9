import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nowSeconds } from '../../src/seams/clock.ts'
import { until } from '../support/until.ts'
import { answeredTwice, correctionsOf, createTasks, journalOf, settled } from './hostile-commands.ts'
import { type HostileStage, hostileStage, type StagedDevice } from './hostile-stage.ts'
import { intrudersFor } from './intruders.ts'
import { type FaultKind, refusals } from './relay-faults.ts'

let stage: HostileStage
let phone: StagedDevice
let task: string

beforeEach(async () => {
  stage = await hostileStage(20_261_207)
  await stage.start()
  phone = await stage.device(1_500)
  ;[task = ''] = await createTasks(phone, 1)
})
afterEach(() => stage.end())

const steer = (text: string) => phone.device.command({ task, action: 'steer', text, based_on: 1 })
const ways = [
  ['what the device sends, which the relay says it has', 'drop and say OK', 'device'],
  ['what the device sends', 'drop', 'device'],
  ['what the host answers', 'drop', 'host'],
  ['what the host answers, on its way to the device', 'lose a delivery', 'host'],
] as const satisfies readonly (readonly [string, FaultKind, 'device' | 'host'])[]

describe('a relay that loses everything one way for a minute', () => {
  it.each(ways)('%s: the device says that nothing is known, and learns it later', async (_, fault, whose) => {
    const { relay, clock, host } = stage
    relay.faults.victim = (author) => (author === host) === (whose === 'host')
    relay.faults.odds = { [fault]: 1 }
    const before = clock.nowMs()
    const sent = await steer('Through the wall.')
    clock.hurry()
    expect(sent.state).toBe('unknown')
    while (clock.nowMs() < before + 60_000) {
      expect((await phone.device.flush()).at(-1)?.state).toBe('unknown')
      await new Promise((resolve) => clock.after(2_000, () => resolve(null)))
    }
    expect(relay.faults.counts.get(fault)).toBeGreaterThan(0)

    relay.faults.odds = {}
    await settled(phone)
    expect((await phone.device.outbox()).at(-1)).toMatchObject({ id: sent.id, state: 'accepted' })
    await stage.stop()
    expect((await correctionsOf(stage)).get(task)).toEqual(['Through the wall.'])
  })
})

describe('a relay that refuses the answer of a host once', () => {
  it.each(refusals)(
    'with %s: the device learns it all the same, and nothing is done twice',
    async (prefix) => {
      const { relay, host } = stage
      const fault: FaultKind = `refuse ${prefix}`
      relay.faults.victim = (author) => author === host
      relay.faults.odds = { [fault]: 1 }
      relay.archive.onShown = () => {
        if ((relay.faults.counts.get(fault) ?? 0) > 0) relay.faults.odds = {}
      }
      stage.clock.hurry()
      const sent = await steer('Once.')
      if (sent.state === 'unknown') await settled(phone)
      expect((await phone.device.outbox()).at(-1)).toMatchObject({ id: sent.id, state: 'accepted' })
      expect(relay.faults.counts.get(fault)).toBeGreaterThan(0)
      await stage.stop()
      expect((await correctionsOf(stage)).get(task)).toEqual(['Once.'])
      expect(await answeredTwice(stage, [phone])).toEqual([])
    },
  )
})

describe('a host that was away', () => {
  it('answers what was sent meanwhile and is still fresh when it is back, before anybody asks again', async () => {
    const { shown, stored } = stage.relay.archive
    await stage.stop()
    const before = shown.length
    const sent = await steer('While you were out.')
    expect(sent.state).toBe('unknown')
    const request = shown.slice(before).find(({ pubkey }) => pubkey === phone.key)
    expect(stored.get(request?.id ?? '')?.kind).toBe(3_188)
    const copies = () => shown.filter(({ id }) => id === request?.id).length
    const asked = copies()

    await stage.start()
    const answers = () =>
      shown.filter((event) => event.pubkey === stage.host && mailboxOf(event) === mailboxOf(request))
    await until(() => answers().length === 1)
    expect(copies()).toBe(asked)
    expect((await phone.device.flush()).at(-1)).toMatchObject({ id: sent.id, state: 'accepted' })
    await stage.stop()
    expect((await correctionsOf(stage)).get(task)).toEqual(['While you were out.'])
  })
})

describe('history that is played again after a restart', () => {
  it('carries nothing out a second time, though every request is still fresh', async () => {
    const { relay } = stage
    const texts = Array.from({ length: 30 }, (_, index) => `Step ${index}.`)
    await Promise.all(texts.map(steer))
    await settled(phone)
    const before = await stage.operator.commands({ task: null, from: 0 })
    await stage.stop()
    relay.archive.historyMax = Number.POSITIVE_INFINITY
    relay.faults.odds = { 'ignore since': 1, 'EOSE early': 1 }
    const shown = relay.archive.shown.length
    await stage.start()
    relay.cutAll()
    await steer('After all that.')
    await settled(phone)
    await stage.stop()
    expect((await journalOf(stage)).slice(0, before.entries.length)).toEqual(before.entries)
    expect((await correctionsOf(stage)).get(task)).toEqual([...texts, 'After all that.'])
    expect(await answeredTwice(stage, [phone])).toEqual([])
    expect(shown).toBeGreaterThan(60)
  })
})

describe('events dated two years ahead', () => {
  it('of strangers, forged, or of an enrolled device never move what the host asks for next', async () => {
    const { relay, clock } = stage
    relay.intruders = await intrudersFor(stage, [phone])
    relay.faults.odds = { 'send an intruder': 1 }
    clock.hurry()
    for (let round = 0; round < 8; round += 1) {
      await steer(`Round ${round}.`)
      relay.cutAll()
    }
    relay.faults.odds = {}
    await settled(phone)
    const since = relay.archive.asked.flatMap((filter) => (filter.since === undefined ? [] : [filter.since]))
    expect(since.length).toBeGreaterThan(8)
    expect(relay.faults.counts.get('send an intruder')).toBeGreaterThan(8)
    expect(Math.max(...since)).toBeLessThanOrEqual(nowSeconds(clock))
    await stage.stop()
    expect((await correctionsOf(stage)).get(task)).toHaveLength(8)
  })
})

function mailboxOf(event: { readonly tags: readonly string[][] } | undefined): string {
  return event?.tags.find((tag) => tag[0] === 'h')?.[1] ?? ''
}
