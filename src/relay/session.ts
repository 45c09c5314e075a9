import {
  relayAuthKeysMax,
  relayBacklogBytes,
  relayBufferedBytesMax,
  relayQueryEventsMax,
  relaySubscriptionsMax,
} from '../limits.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { type ClientFrame, type Filter, parseClientFrame } from '../protocol/relay-frames.ts'
import { verifyEvent } from '../protocol/signer.ts'
import { nowSeconds } from '../seams/clock.ts'
import { randomId } from '../seams/random.ts'
import { createAllowance } from './allowance.ts'
import { authRefusal } from './auth.ts'
import { complaintAbout } from './complaint.ts'
import { couldMatch, matchesFilter } from './filter.ts'
import { fanOut, type Hub, type Listener } from './hub.ts'
import { mayRead, storageRefusal } from './rules.ts'
import type { StoredEvent } from './store.ts'

/** The socket of one connection, as the relay sees it. */
export interface Peer {
  send(text: string): void
  /** Bytes given to `send` that the network has not taken. */
  bufferedBytes(): number
  /** Ends the connection at once. */
  drop(): void
  /** The URLs by which this peer may have reached the relay. */
  urls(): readonly string[]
}

export interface Session {
  received(text: string): void
  /** The network took something: more of a long answer may be sent. */
  drained(): void
  ended(): void
  subscriptions(): number
}

interface Answer {
  readonly subscription: string
  readonly found: readonly StoredEvent[]
  next: number
}

interface State {
  readonly hub: Hub
  readonly peer: Peer
  readonly challenge: string
  readonly keys: Set<string>
  readonly subscriptions: Map<string, readonly Filter[]>
  /** Stored events still to be sent, in the order asked. They wait for the network; live events do not. */
  answers: Answer[]
  readonly mayPublish: () => boolean
}

/**
 * One connection to the embedded relay. Challenges at once; answers nothing that could show a private artifact
 * before AUTH, and then only what the authenticated keys wrote or were sent.
 * @see spec/wire.md §2, §8
 */
export function openSession(hub: Hub, peer: Peer): Session {
  const state: State = {
    hub,
    peer,
    challenge: randomId(hub.random),
    keys: new Set(),
    subscriptions: new Map(),
    answers: [],
    mayPublish: createAllowance(hub.clock),
  }
  const listener: Listener = { keys: state.keys, offer: (stored) => offer(state, stored) }
  hub.listeners.add(listener)
  send(state, ['AUTH', state.challenge])
  return {
    received: (text) => receive(state, text),
    drained: () => sendAnswers(state),
    ended() {
      hub.listeners.delete(listener)
      state.subscriptions.clear()
      state.answers = []
    },
    subscriptions: () => state.subscriptions.size,
  }
}

function receive(state: State, text: string): void {
  const frame = parseClientFrame(text)
  switch (frame?.type) {
    case undefined:
      send(state, complaintAbout(text))
      break
    case 'AUTH':
      authenticate(state, frame.event)
      break
    case 'EVENT':
      publish(state, frame.event)
      break
    case 'REQ':
      subscribe(state, frame)
      break
    case 'COUNT':
      count(state, frame)
      break
    case 'CLOSE':
      unsubscribe(state, frame.subscription)
  }
}

function authenticate(state: State, event: NostrEvent): void {
  const terms = { challenge: state.challenge, urls: state.peer.urls(), now: nowSeconds(state.hub.clock) }
  const full = state.keys.size >= relayAuthKeysMax && !state.keys.has(event.pubkey)
  const refusal = full ? 'error: too many keys on one connection' : authRefusal(event, terms)
  if (refusal === null) state.keys.add(event.pubkey)
  send(state, ['OK', event.id, refusal === null, refusal ?? ''])
}

function publish(state: State, event: NostrEvent): void {
  const { hub } = state
  const refusal = publishRefusal(state, event)
  if (refusal !== null || hub.store.has(event.id)) {
    send(state, ['OK', event.id, refusal === null, refusal ?? 'duplicate: already here'])
    return
  }
  if (!verifyEvent(event)) {
    send(state, ['OK', event.id, false, 'invalid: bad ID or signature'])
    return
  }
  // Somebody waits for the event itself; its author can wait for the receipt.
  fanOut(hub, hub.store.add(event), mayRead)
  send(state, ['OK', event.id, true, ''])
}

/** What refuses an event before its signature is worth checking. Hosts that are served are not slowed down. */
function publishRefusal(state: State, event: NostrEvent): string | null {
  const serves = state.hub.serves()
  const isHost = serves?.some((key) => state.keys.has(key)) === true
  if (!isHost && !state.mayPublish()) return 'rate-limited: too many events'
  return storageRefusal(event, serves)
}

type ReqFrame = Extract<ClientFrame, { type: 'REQ' }>
type CountFrame = Extract<ClientFrame, { type: 'COUNT' }>

/**
 * The subscription is live before the store is read, in one synchronous step: whatever is stored from here on is
 * offered to it, and nothing between can be lost or sent twice.
 */
function subscribe(state: State, frame: ReqFrame): void {
  const { subscription, filters } = frame
  unsubscribe(state, subscription)
  if (!mayAsk(state, frame)) return
  if (state.subscriptions.size >= relaySubscriptionsMax) {
    send(state, ['CLOSED', subscription, `error: at most ${relaySubscriptionsMax} subscriptions`])
    return
  }
  state.subscriptions.set(subscription, filters)
  const found = state.hub.store.query(filters, state.keys, relayQueryEventsMax)
  state.answers.push({ subscription, found, next: 0 })
  sendAnswers(state)
}

function count(state: State, frame: CountFrame): void {
  if (!mayAsk(state, frame)) return
  const found = state.hub.store.query(frame.filters, state.keys, relayQueryEventsMax)
  send(state, ['COUNT', frame.subscription, { count: found.length }])
}

/** Refuses what needs AUTH, and then sends the challenge again: some clients lose one that comes as they open. */
function mayAsk(state: State, { subscription, filters }: ReqFrame | CountFrame): boolean {
  if (state.keys.size === 0 && filters.some(couldMatch)) {
    send(state, [
      'CLOSED',
      subscription,
      'auth-required: private artifacts are for their author and recipient',
    ])
    send(state, ['AUTH', state.challenge])
    return false
  }
  return true
}

function unsubscribe(state: State, subscription: string): void {
  state.subscriptions.delete(subscription)
  state.answers = state.answers.filter((answer) => answer.subscription !== subscription)
}

/** Sends stored events as fast as the network takes them, so that a long answer is never a slow reader's fault. */
function sendAnswers(state: State): void {
  for (let answer = state.answers[0]; answer !== undefined; answer = state.answers[0]) {
    while (answer.next < answer.found.length) {
      if (state.peer.bufferedBytes() >= relayBacklogBytes) return
      const stored = answer.found[answer.next]
      answer.next += 1
      if (stored !== undefined) state.peer.send(eventFrame(answer.subscription, stored))
    }
    send(state, ['EOSE', answer.subscription])
    state.answers.shift()
  }
}

function offer(state: State, stored: StoredEvent): void {
  for (const [subscription, filters] of state.subscriptions) {
    if (!filters.some((filter) => matchesFilter(filter, stored.event))) continue
    state.peer.send(eventFrame(subscription, stored))
  }
  dropSlow(state)
}

function eventFrame(subscription: string, stored: StoredEvent): string {
  return `["EVENT",${JSON.stringify(subscription)},${stored.text}]`
}

function send(state: State, frame: readonly unknown[]): void {
  state.peer.send(JSON.stringify(frame))
  dropSlow(state)
}

/** A reader that does not read is let go before it can hold the relay's memory. */
function dropSlow(state: State): void {
  if (state.peer.bufferedBytes() > relayBufferedBytesMax) state.peer.drop()
}
