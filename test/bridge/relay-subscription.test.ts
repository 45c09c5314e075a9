import { describe, expect, it } from 'vitest'
import { emptyAccessRecord } from '../../src/bridge/access/record.ts'
import { nudgeFilters } from '../../src/bridge/nudge-filters.ts'
import { type Listening, subscriptionFilters, subscriptionId } from '../../src/bridge/relay-subscription.ts'
import { nudgeMailbox } from '../../src/protocol/mailbox.ts'
import { noLimits } from '../../src/protocol/relay-limits.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { grantEntry, id, keys } from '../support/access.ts'
import { testKey } from '../support/keys.ts'

const now = 1_795_000_000
const host = testKey(11)
const usual = { kinds: [3188], '#p': [host.publicKey], since: now - 60 }
const extra = { kinds: [3188], '#h': ['a'.repeat(64)] }
const listening = (changes: Partial<Listening> = {}): Listening => ({
  host: host.publicKey,
  nowMs: now * 1000,
  heardMs: now * 1000,
  lifetimeSeconds: 120,
  limits: noLimits,
  afterGap: () => [extra],
  ...changes,
})

describe('what a subscription asks for', () => {
  it.each([
    ['while the relay is heard', { heardMs: now * 1000 }, [usual]],
    ['after a gap of just a subscription’s life', { heardMs: (now - 120) * 1000 }, [usual]],
    ['after a longer gap', { heardMs: (now - 120) * 1000 - 1 }, [usual, extra]],
    ['at the start', { heardMs: null }, [usual, extra]],
    ['with a clock that was set back', { heardMs: (now + 86_400) * 1000 }, [usual]],
    ['at the start, with nothing to add', { heardMs: null, afterGap: undefined }, [usual]],
    ['of a relay that takes one filter', { heardMs: null, limits: { ...noLimits, max_filters: 1 } }, [usual]],
    [
      'of a relay that claims to take none',
      { heardMs: null, limits: { ...noLimits, max_filters: 0 } },
      [usual],
    ],
    [
      'of a relay that takes ten',
      { heardMs: null, limits: { ...noLimits, max_filters: 10 } },
      [usual, extra],
    ],
  ])('%s', (_, changes, filters) => {
    expect(subscriptionFilters(listening(changes))).toEqual(filters)
  })
})

describe('the name of a subscription', () => {
  it.each([
    [null, 16],
    [64, 16],
    [8, 8],
    [0, 1],
  ])('is no longer than the relay takes: %j', (max_subid_length, length) => {
    const limits = { ...noLimits, max_subid_length }
    expect(subscriptionId(systemRandom, limits)).toHaveLength(length)
  })

  it('is another one each time', () => {
    expect(subscriptionId(systemRandom, noLimits)).not.toBe(subscriptionId(systemRandom, noLimits))
  })
})

describe('the nudges that are asked for after a gap', () => {
  const record = {
    ...emptyAccessRecord(keys.host, keys.owner),
    grants: [
      grantEntry(),
      grantEntry({ grant: id(2), device: keys.tablet, revoked_at: now - 5 }),
      grantEntry({ grant: id(3), device: keys.stranger, expires_at: now - 1 }),
    ],
  }

  it('are those of the owner and of every enrolled device, as far back as a nudge lives by the host’s clock', () => {
    const mailboxes = [keys.owner, keys.phone].map((peer) => nudgeMailbox(host.with(peer)))
    expect(nudgeFilters(record, now, host.with)).toEqual([
      { kinds: [3188], '#p': [keys.host], '#h': mailboxes, since: now - 86_400 - 60 },
    ])
  })
})
