import { describe, expect, it } from 'vitest'
import { quorumOf } from '../../src/bridge/quorum.ts'
import type { PublishOutcome } from '../../src/protocol/relay-session.ts'

const accepted: PublishOutcome = { outcome: 'accepted', duplicate: false }
const refused: PublishOutcome = { outcome: 'refused', prefix: 'blocked', message: 'blocked: no' }
const unknown: PublishOutcome = { outcome: 'unknown' }
const mute = new Promise<PublishOutcome>(() => {})
const all = (...outcomes: PublishOutcome[]) => outcomes.map((outcome) => Promise.resolve(outcome))

describe('an event on several relays', () => {
  it('on none is never accepted', async () => {
    expect(await quorumOf([])).toEqual(unknown)
  })

  it.each([[accepted], [refused], [unknown]])('on one is what that one said: %j', async (outcome) => {
    expect(await quorumOf(all(outcome))).toEqual(outcome)
  })

  it.each([
    [[accepted, refused, unknown]],
    [[accepted, unknown, refused]],
    [[refused, accepted, unknown]],
    [[refused, unknown, accepted]],
    [[unknown, accepted, refused]],
    [[unknown, refused, accepted]],
  ])('on three of which one takes it, one refuses and one is mute is unknown (%#)', async (outcomes) => {
    expect(await quorumOf(all(...outcomes))).toEqual(unknown)
  })

  it.each([
    [[Promise.resolve(accepted), Promise.resolve(accepted), mute]],
    [[Promise.resolve(accepted), mute, Promise.resolve(accepted)]],
    [[mute, Promise.resolve(accepted), Promise.resolve(accepted)]],
  ])('is accepted once most of them took it, without waiting for one that is mute (%#)', async (outcomes) => {
    expect(await quorumOf(outcomes)).toEqual(accepted)
  })

  it('on two of which one takes it is unknown', async () => {
    expect(await quorumOf(all(accepted, refused))).toEqual(unknown)
  })

  it('is unknown where a publication breaks', async () => {
    expect(await quorumOf([Promise.reject(new Error('bug')), ...all(accepted)])).toEqual(unknown)
  })
})
