import type { NostrEvent } from '../../src/protocol/event.ts'
import { type Filter, frameText } from '../../src/protocol/relay-frames.ts'
import type { Clock } from '../../src/seams/clock.ts'
import type { Dice } from '../support/dice.ts'
import { type RelayArchive, readersOf, wants } from './relay-archive.ts'
import { type Faults, type Refusing, refusals } from './relay-faults.ts'

/** An event that a hostile relay shows to whoever is named, without having been sent it. */
export interface Intruder {
  readonly to: string
  readonly event: NostrEvent
}

/** One client's connection, as the relay has it. */
export interface HostileSession {
  received(frame: unknown[]): void
  /** Offers an event that another client published. */
  offer(event: NostrEvent): void
  isMute(): boolean
  ended(): void
}

export interface HostileSessionOptions {
  readonly url: string
  readonly clock: Pick<Clock, 'after'>
  readonly draws: Dice
  readonly faults: Faults
  readonly archive: RelayArchive
  others(): Iterable<HostileSession>
  intruders(): readonly Intruder[]
  /** A frame, or text that is none. */
  say(frame: readonly unknown[] | string): void
  cut(): void
}

interface State extends HostileSessionOptions {
  readonly keys: Set<string>
  readonly subscriptions: Map<string, readonly Filter[]>
  /** Deliveries that let others go first. */
  held: (() => void)[]
  challenge: string
  mute: boolean
  over: boolean
}

/** What the wall clock of a late relay is late by, at most, in milliseconds. */
const lateMsMax = 90_000

export function openHostileSession(options: HostileSessionOptions): HostileSession {
  const state: State = {
    ...options,
    keys: new Set(),
    subscriptions: new Map(),
    held: [],
    challenge: '',
    mute: false,
    over: false,
  }
  if (!state.faults.happens('keep the challenge')) challenge(state)
  return {
    received: (frame) => receive(state, frame),
    offer: (event) => offer(state, event),
    isMute: () => state.mute,
    ended() {
      state.over = true
    },
  }
}

function receive(state: State, frame: unknown[]): void {
  if (state.mute || state.over) return
  if (state.faults.happens('mute')) {
    state.mute = true
    return
  }
  const [type, about] = frame
  if (type === 'AUTH') authenticate(state, about as NostrEvent)
  else if (type === 'REQ') subscribe(state, String(about), frame.slice(2) as Filter[])
  else if (type === 'EVENT') publish(state, about as NostrEvent)
  else if (type === 'CLOSE') state.subscriptions.delete(String(about))
}

function challenge(state: State): void {
  state.challenge = state.draws.next().toString(36)
  say(state, ['AUTH', state.challenge])
}

function authenticate(state: State, event: NostrEvent): void {
  const answers = (name: string, value: string) =>
    event.tags.some((tag) => tag[0] === name && tag[1] === value)
  const genuine = answers('challenge', state.challenge) && answers('relay', state.url)
  if (!genuine || state.faults.happens('refuse AUTH')) {
    say(state, ['OK', event.id, false, 'restricted: not you'])
    return
  }
  state.keys.add(event.pubkey)
  say(state, ['OK', event.id, true, ''])
}

/** Forgets who the client is, and wants to know again. */
function demandAuth(state: State): void {
  state.keys.clear()
  for (const id of state.subscriptions.keys()) say(state, ['CLOSED', id, 'auth-required: who are you now?'])
  state.subscriptions.clear()
  challenge(state)
}

function subscribe(state: State, id: string, filters: readonly Filter[]): void {
  const { faults, archive } = state
  if (state.keys.size === 0) {
    say(state, ['CLOSED', id, 'auth-required: private'])
    challenge(state)
    return
  }
  state.subscriptions.set(id, filters)
  const anyAge = faults.happens('ignore since')
  archive.ask(filters)
  const stored = archive.query(filters, state.keys, anyAge)
  const early = faults.happens('EOSE early')
  if (early) say(state, ['EOSE', id])
  for (const event of stored)
    if (!faults.happens('lose a delivery', event.pubkey)) say(state, ['EVENT', id, event])
  if (early || faults.happens('EOSE never')) return
  say(state, ['EOSE', id])
  if (faults.happens('EOSE twice')) say(state, ['EOSE', id])
}

function publish(state: State, event: NostrEvent): void {
  const { faults, archive } = state
  archive.show(event)
  if (faults.happens('cut before an event', event.pubkey)) state.cut()
  else if (faults.happens('AUTH in the middle', event.pubkey)) {
    demandAuth(state)
    say(state, ['OK', event.id, false, 'auth-required: who are you now?'])
  } else if (faults.happens('drop and say OK', event.pubkey)) say(state, ['OK', event.id, true, ''])
  else if (!faults.happens('drop', event.pubkey)) answer(state, event)
}

function answer(state: State, event: NostrEvent): void {
  const { faults, archive } = state
  const refusing = refusals.find((prefix) => faults.happens(`refuse ${prefix}`, event.pubkey))
  if (refusing !== undefined) {
    if (refusing === 'auth-required') challenge(state)
    say(state, ['OK', event.id, false, words(refusing)])
    return
  }
  const known = archive.stored.has(event.id)
  archive.store(event)
  // Some relays pass on what they have already, others do not.
  if (!known || state.draws.chance(0.5)) for (const other of state.others()) other.offer(event)
  const ok = ['OK', event.id, true, known ? 'duplicate: have it' : '']
  if (faults.happens('cut after an event', event.pubkey)) state.cut()
  else if (faults.happens('say OK late', event.pubkey)) later(state, () => say(state, ok))
  else if (!faults.happens('say no OK', event.pubkey)) say(state, ok)
}

function offer(state: State, event: NostrEvent): void {
  if (state.mute || state.over) return
  for (const [id, filters] of state.subscriptions) {
    if (!readersOf(event).some((key) => state.keys.has(key))) continue
    if (filters.some((filter) => wants(filter, event, false))) deliver(state, id, event)
  }
}

function deliver(state: State, id: string, event: NostrEvent): void {
  const { faults, draws } = state
  const bring = () => say(state, ['EVENT', id, event])
  if (faults.happens('send rubbish', event.pubkey)) say(state, draws.pick(rubbish(id, event)))
  if (faults.happens('send an intruder', event.pubkey)) intrude(state, id)
  if (faults.happens('send a forgery first', event.pubkey)) {
    const content = `${event.content.slice(0, -4)}AAA=`
    say(state, ['EVENT', id, draws.chance(0.5) ? { ...event, content } : { ...event, sig: '0'.repeat(128) }])
  }
  if (faults.happens('lose a delivery', event.pubkey)) return
  if (faults.happens('delay', event.pubkey)) later(state, bring)
  else if (faults.happens('reorder', event.pubkey)) hold(state, bring)
  else bring()
  if (faults.happens('deliver twice', event.pubkey)) bring()
  if (faults.happens('replay history', event.pubkey)) replay(state, id)
  if (faults.happens('end a subscription', event.pubkey)) {
    state.subscriptions.delete(id)
    say(state, ['CLOSED', id, words(draws.pick(refusals))])
  }
  release(state, bring)
}

/** Lets the next deliveries go first; when none comes, a moment passes instead. */
function hold(state: State, bring: () => void): void {
  state.held.push(bring)
  state.clock.after(2_000, () => release(state, null))
}

/** Brings what was held, except what was held just now. */
function release(state: State, justNow: (() => void) | null): void {
  const due = state.held.filter((bring) => bring !== justNow)
  state.held = state.held.filter((bring) => bring === justNow)
  for (const bring of due) bring()
}

function replay(state: State, id: string): void {
  const filters = state.subscriptions.get(id) ?? []
  const old = state.archive.query(filters, state.keys, true)
  for (let left = Math.min(5, old.length); left > 0; left -= 1)
    say(state, ['EVENT', id, state.draws.pick(old)])
}

function intrude(state: State, id: string): void {
  const fitting = state.intruders().filter(({ to }) => state.keys.has(to))
  if (fitting.length > 0) say(state, ['EVENT', id, state.draws.pick(fitting).event])
}

function rubbish(id: string, event: NostrEvent): (readonly unknown[] | string)[] {
  return [
    ['NOTICE', 'the relay has something to say'],
    ['EVENT', 'not-your-subscription', event],
    ['EVENT', id, { ...event, extra: true }],
    ['OK', event.id, false, 'blocked: you never sent it'],
    ['EOSE', id],
    ['CLOSED', 'not-your-subscription', 'error: no'],
    '[]',
    '["EVENT"',
    frameText(['EVENT', id, event]).replace('"kind"', '"kind":1,"kind"'),
  ]
}

function later(state: State, run: () => void): void {
  state.clock.after(state.draws.below(lateMsMax), () => {
    if (!state.over && !state.mute) run()
  })
}

function say(state: State, frame: readonly unknown[] | string): void {
  if (!state.mute && !state.over) state.say(frame)
}

function words(prefix: Refusing): string {
  return prefix === 'none' ? 'go away' : `${prefix}: go away`
}
