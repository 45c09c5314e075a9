import { describe, expect, it } from 'vitest'
import type { ActivitySummary } from '../../src/protocol/bodies/activity-summary.ts'
import { commandsHeard } from './commands-heard.ts'
import { simulatedStage } from './simulated-stage.ts'

const task = '7a'.repeat(32)

describe('a device that watches', () => {
  const told = (summaries: readonly ActivitySummary[]) =>
    summaries.map(({ subject, sequence, headline }) => `${subject.id.slice(0, 2)} ${sequence} ${headline}`)
  const about = (
    id: string,
    sequence: number,
    more: Partial<ActivitySummary> = {},
  ): Partial<ActivitySummary> => ({
    subject: { kind: 'task', id: id.repeat(32) },
    sequence,
    headline: `Task at ${sequence}`,
    ...more,
  })

  it('is told the newest of each task, and then each that is newer, by sequence alone', async () => {
    const stage = await simulatedStage()
    const { host, clock } = stage
    const device = await stage.openPaired()
    const { device: me } = await device.whoami()
    const say = (changes: Partial<ActivitySummary>) => host.publish(host.summaryFor(me, changes))
    const at = Math.floor(clock.nowMs() / 1000)
    say(about('aa', 1))
    say(about('aa', 3, { updated_at: at - 50 }))
    say(about('bb', 0, { updated_at: at - 100 }))
    await clock.advance(1_000)
    const heard: ActivitySummary[] = []
    const stop = new AbortController()
    const watching = device.watch({ told: (one) => heard.push(one) }, stop.signal)
    await clock.advance(2_000)
    expect(told(heard)).toEqual(['bb 0 Task at 0', 'aa 3 Task at 3'])
    say(about('aa', 2, { updated_at: at + 20 }))
    say(about('bb', 1, { updated_at: at - 3_000 }))
    say(about('bb', 1, { updated_at: at + 30, headline: 'the same again' }))
    // A new connection hears the stored ones again.
    await clock.advance(130_000)
    expect(told(heard).slice(2)).toEqual(['bb 1 Task at 1'])
    stop.abort()
    await stage.run(watching)
  })

  it('keeps them for the next process, each watcher being told by itself', async () => {
    const stage = await simulatedStage()
    const { host, clock } = stage
    const device = await stage.openPaired()
    const { device: me } = await device.whoami()
    const stop = new AbortController()
    const first: ActivitySummary[] = []
    const second: ActivitySummary[] = []
    const other = await stage.run(stage.open())
    const watching = [
      device.watch({ told: (one) => first.push(one) }, stop.signal),
      other.watch({ told: (one) => second.push(one) }, stop.signal),
    ]
    await clock.advance(1_000)
    host.publish(host.summaryFor(me, about('aa', 5)))
    await clock.advance(1_000)
    expect([told(first), told(second)]).toEqual([['aa 5 Task at 5'], ['aa 5 Task at 5']])
    stop.abort()
    await stage.run(Promise.all(watching))

    stage.relay.passes = ({ whose }) => whose !== 'device'
    const later: ActivitySummary[] = []
    const offline = await stage.run(stage.open())
    const again = new AbortController()
    const alone = offline.watch({ told: (one) => later.push(one) }, again.signal)
    await clock.advance(1_000)
    expect(told(later)).toEqual(['aa 5 Task at 5'])
    again.abort()
    await stage.run(alone)
    await clock.advance(604_800_000)
    const old: ActivitySummary[] = []
    const last = new AbortController()
    const empty = offline.watch({ told: (one) => old.push(one) }, last.signal)
    await clock.advance(1_000)
    expect(old).toEqual([])
    last.abort()
    await stage.run(empty)
  })

  it('has seen what it was told: the next command is based on it', async () => {
    const stage = await simulatedStage()
    const device = await stage.openPaired()
    const { device: me } = await device.whoami()
    const stop = new AbortController()
    const watching = device.watch({ told: () => {} }, stop.signal)
    await stage.clock.advance(1_000)
    stage.host.publish(stage.host.summaryFor(me, { sequence: 9 }))
    await stage.clock.advance(1_000)
    await stage.run(device.command({ task, action: 'queue', text: 'x' }))
    expect(commandsHeard(stage.host)).toMatchObject([{ based_on: 9 }])
    stop.abort()
    await stage.run(watching)
  })
})
