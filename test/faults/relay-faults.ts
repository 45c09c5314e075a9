import { okPrefixes } from '../../src/protocol/relay-frames.ts'
import type { Dice } from '../support/dice.ts'

/** What a relay says when it refuses: each prefix of the protocol, and words without one. */
export const refusals = [...okPrefixes, 'none'] as const
export type Refusing = (typeof refusals)[number]

const plainKinds = [
  // What becomes of an event that is published.
  'drop',
  'drop and say OK',
  'say no OK',
  'say OK late',
  'cut before an event',
  'cut after an event',
  'mute',
  'AUTH in the middle',
  'refuse AUTH',
  'keep the challenge',
  'hang up at once',
  // What becomes of an event on its way to a subscriber.
  'lose a delivery',
  'deliver twice',
  'reorder',
  'delay',
  'replay history',
  'send a forgery first',
  'send an intruder',
  'send rubbish',
  'end a subscription',
  // What becomes of a subscription's stored events.
  'EOSE early',
  'EOSE never',
  'EOSE twice',
  'ignore since',
] as const

export type FaultKind = (typeof plainKinds)[number] | `refuse ${Refusing}`

/** Every way in which the relay can misbehave. */
export const faultKinds: readonly FaultKind[] = [
  ...plainKinds,
  ...refusals.map((prefix): FaultKind => `refuse ${prefix}`),
]

/** Which faults happen how often, and how often they did. */
export interface Faults {
  /** The chance of each, from 0 to 1, at each occasion. Nothing happens that is not here. */
  odds: Partial<Record<FaultKind, number>>
  readonly counts: ReadonlyMap<FaultKind, number>
  /** Whose events suffer what happens to events; everybody's unless it is set. */
  victim: ((author: string) => boolean) | null
  /** Whether this fault happens now, to an event of this author if one is named; counts it when it does. */
  happens(kind: FaultKind, author?: string): boolean
}

export function createFaults(dice: Dice): Faults {
  const counts = new Map<FaultKind, number>()
  const faults: Faults = {
    odds: {},
    counts,
    victim: null,
    happens(kind, author) {
      const odds = faults.odds[kind] ?? 0
      if (author !== undefined && faults.victim?.(author) === false) return false
      if (odds === 0 || !dice.chance(odds)) return false
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      return true
    },
  }
  return faults
}

/** Everything at once, each seldom enough that something gets through. */
export const everything: Faults['odds'] = {
  drop: 0.02,
  'drop and say OK': 0.01,
  'say no OK': 0.02,
  'say OK late': 0.03,
  'cut before an event': 0.01,
  'cut after an event': 0.01,
  mute: 0.004,
  'AUTH in the middle': 0.01,
  'refuse AUTH': 0.05,
  'keep the challenge': 0.1,
  'hang up at once': 0.05,
  'lose a delivery': 0.02,
  'deliver twice': 0.04,
  reorder: 0.04,
  delay: 0.02,
  'replay history': 0.03,
  'send a forgery first': 0.04,
  'send an intruder': 0.02,
  'send rubbish': 0.03,
  'end a subscription': 0.008,
  'EOSE early': 0.1,
  'EOSE never': 0.05,
  'EOSE twice': 0.1,
  'ignore since': 0.2,
  ...Object.fromEntries(refusals.map((prefix) => [`refuse ${prefix}`, 0.003])),
}
