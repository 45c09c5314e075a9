import { beforeEach } from 'vitest'
import type { EventTemplate } from '../../src/protocol/event.ts'
import {
  createRelaySession,
  type RelaySession,
  type SessionEffect,
} from '../../src/protocol/relay-session.ts'
import { testKey } from '../support/keys.ts'

export const host = testKey(11)
export const phone = testKey(13)
export const url = 'wss://relay.example.net/'

/** The session of the running test, its subscription named `in`, and its clock in Unix seconds. */
export let session: RelaySession
export let now: number

beforeEach(() => {
  now = 1_795_000_000
  session = createRelaySession({
    url,
    subscription: 'in',
    filters: () => [{ kinds: [3188], since: now - 60 }],
    now: () => now,
  })
})

/** What a frame leads to, every AUTH signed at once. */
export const hear = (...frame: unknown[]): SessionEffect[] => signAll(session.received(JSON.stringify(frame)))
const signAll = (effects: SessionEffect[]): SessionEffect[] =>
  effects.flatMap((effect) =>
    effect.kind === 'sign' ? session.signed(host.signer.sign(effect.template)) : [effect],
  )
export const templates = (effects: SessionEffect[]): EventTemplate[] =>
  effects.flatMap((effect) => (effect.kind === 'sign' ? [effect.template] : []))
export const sent = (effects: SessionEffect[]): unknown[][] =>
  effects.flatMap((effect) => (effect.kind === 'send' ? [JSON.parse(effect.text)] : []))
export const kinds = (effects: SessionEffect[]): string[] =>
  effects.map((effect) => (effect.kind === 'send' ? JSON.parse(effect.text)[0] : effect.kind))

/** Answers the AUTH that is among `effects` as the relay does. */
export function answerAuth(effects: SessionEffect[], accepted = true, message = ''): SessionEffect[] {
  const auth = sent(effects).find((frame) => frame[0] === 'AUTH')?.[1] as { id: string }
  return hear('OK', auth.id, accepted, message)
}

export function advance(seconds: number): void {
  now += seconds
}
