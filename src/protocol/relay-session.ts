import { relayAuthTriesMax } from '../limits.ts'
import { type EventTemplate, eventJson, type NostrEvent } from './event.ts'
import {
  type Filter,
  frameText,
  type OkPrefix,
  okOutcome,
  parseRelayFrame,
  type RelayFrame,
} from './relay-frames.ts'

/** What a relay said of a published event, or that it never said anything. */
export type PublishOutcome =
  | { readonly outcome: 'accepted'; readonly duplicate: boolean }
  | { readonly outcome: 'refused'; readonly prefix: OkPrefix; readonly message: string }
  /** Nothing final was said while it was fresh. It may have been stored. */
  | { readonly outcome: 'unknown' }

/** What the holder of the connection must do, in order. */
export type SessionEffect =
  | { readonly kind: 'send'; readonly text: string }
  /** Sign this AUTH and hand it to `signed`, or say `unsigned`. */
  | { readonly kind: 'sign'; readonly template: EventTemplate }
  /** An event of the subscription, its signature unchecked. `stored`: sent before the end of stored events. */
  | { readonly kind: 'event'; readonly event: NostrEvent; readonly stored: boolean }
  /** Everything stored was sent; from here on events are live. */
  | { readonly kind: 'live' }
  | { readonly kind: 'published'; readonly id: string; readonly outcome: PublishOutcome }
  /** The subscription is over and this connection cannot mend it. */
  | { readonly kind: 'lost'; readonly prefix: OkPrefix; readonly message: string }

export interface RelaySessionOptions {
  /** Exactly the URL that was dialled: the only one AUTH is ever signed for. */
  readonly url: string
  /** The ID of the one subscription. */
  readonly subscription: string
  /** Asked each time the subscription is (re)opened. */
  readonly filters: () => readonly Filter[]
  /** Host time, Unix seconds. */
  readonly now: () => number
}

/** One connection's side of NIP-01 and NIP-42: feed it what happens, do what it says. */
export interface RelaySession {
  /** The relay was given its time to challenge (or to answer AUTH) and did not: go on without. */
  patienceEnded(): SessionEffect[]
  received(text: string): SessionEffect[]
  /** The AUTH that was asked for, signed. One to a challenge that was replaced meanwhile means nothing. */
  signed(event: NostrEvent): SessionEffect[]
  /** The AUTH with this template cannot be signed: as good as a relay that refused it. */
  unsigned(template: EventTemplate): SessionEffect[]
  /** Publishes once the subscription was asked for; an event that is still pending is sent again. */
  publish(event: NostrEvent): SessionEffect[]
  /** Stops expecting an OK for an event. */
  forget(id: string): void
  isLive(): boolean
  /** An AUTH is being signed, or was sent and not answered yet. */
  isAuthenticating(): boolean
  isSigning(): boolean
}

interface Pending {
  readonly event: NostrEvent
  /** How often the relay wanted AUTH before it. */
  readonly refusals: number
}

interface State {
  challenge: string | null
  /** The AUTH that was not yet answered; its ID is null while it is being signed. */
  asked: { id: string | null; challenge: string } | null
  /** AUTHs since the relay was last content: one that never is ends the connection. */
  tries: number
  subscription: 'unasked' | 'asked' | 'live' | 'closed'
  readonly pending: Map<string, Pending>
}

/**
 * The client's session with a relay: AUTH before REQ when challenged, REQ without AUTH when the relay never
 * challenges, both again whenever the relay asks in mid-session, and every EVENT pending until its OK. No clock,
 * no socket.
 * @see spec/wire.md §8
 */
export function createRelaySession(options: RelaySessionOptions): RelaySession {
  const state: State = {
    challenge: null,
    asked: null,
    tries: 0,
    subscription: 'unasked',
    pending: new Map(),
  }
  return {
    patienceEnded() {
      return state.subscription === 'unasked' ? subscribe(state, options) : []
    },
    received(text) {
      const frame = parseRelayFrame(text)
      return frame === null ? [] : receive(state, options, frame)
    },
    signed: (event) => signed(state, options, event),
    unsigned: (template) => unsigned(state, options, template),
    publish(event) {
      state.pending.set(event.id, { event, refusals: state.pending.get(event.id)?.refusals ?? 0 })
      const going = state.subscription === 'asked' || state.subscription === 'live'
      return going ? [sendEvent(event)] : []
    },
    forget: (id) => void state.pending.delete(id),
    isLive: () => state.subscription === 'live',
    isAuthenticating: () => state.asked !== null,
    isSigning: () => state.asked?.id === null,
  }
}

function receive(state: State, options: RelaySessionOptions, frame: RelayFrame): SessionEffect[] {
  switch (frame.type) {
    case 'AUTH':
      state.challenge = frame.challenge
      return authenticate(state, options)
    case 'OK':
      return state.asked !== null && frame.event === state.asked.id
        ? answered(state, options, frame)
        : published(state, options, frame)
    case 'EVENT':
      if (frame.subscription !== options.subscription) return []
      return [{ kind: 'event', event: frame.event, stored: state.subscription !== 'live' }]
    case 'EOSE':
      if (frame.subscription !== options.subscription || state.subscription !== 'asked') return []
      state.subscription = 'live'
      state.tries = 0
      return [{ kind: 'live' }]
    case 'CLOSED':
      return frame.subscription === options.subscription ? closed(state, options, frame) : []
    default:
      return []
  }
}

/** Answers the relay's challenge, unless that very challenge is already being answered. */
function authenticate(state: State, options: RelaySessionOptions): SessionEffect[] {
  const { challenge } = state
  if (challenge === null || state.asked?.challenge === challenge) return []
  state.tries += 1
  if (state.tries > relayAuthTriesMax) {
    return [{ kind: 'lost', prefix: 'auth-required', message: 'the relay keeps asking for authentication' }]
  }
  state.asked = { id: null, challenge }
  return [{ kind: 'sign', template: authTemplate(options, challenge) }]
}

function authTemplate({ url, now }: RelaySessionOptions, challenge: string): EventTemplate {
  const tags = [
    ['relay', url],
    ['challenge', challenge],
  ]
  return { kind: 22_242, created_at: now(), tags, content: '' }
}

function signed(state: State, { url }: RelaySessionOptions, event: NostrEvent): SessionEffect[] {
  const { asked } = state
  const isIt = event.kind === 22_242 && tagValue(event, 'relay') === url
  if (asked === null || asked.id !== null || !isIt || tagValue(event, 'challenge') !== asked.challenge)
    return []
  asked.id = event.id
  return [{ kind: 'send', text: `["AUTH",${eventJson(event)}]` }]
}

function unsigned(state: State, options: RelaySessionOptions, template: EventTemplate): SessionEffect[] {
  const { asked } = state
  if (asked === null || asked.id !== null || tagValue(template, 'challenge') !== asked.challenge) return []
  return refused(state, options, { prefix: 'none', message: 'the authentication could not be signed' })
}

function tagValue({ tags }: EventTemplate, name: string): string | undefined {
  return tags.find((tag) => tag[0] === name)?.[1]
}

type OkFrame = Extract<RelayFrame, { type: 'OK' }>
type ClosedFrame = Extract<RelayFrame, { type: 'CLOSED' }>

/**
 * The relay answered our AUTH. Accepted: the subscription is asked for again in any case, since what was asked
 * before may have been answered as to a stranger. Refused: no end by itself, it may not insist on AUTH here.
 */
function answered(state: State, options: RelaySessionOptions, frame: OkFrame): SessionEffect[] {
  if (!frame.accepted) return refused(state, options, frame)
  state.asked = null
  if (state.subscription === 'live') state.tries = 0
  return subscribe(state, options)
}

function refused(state: State, options: RelaySessionOptions, why: Pick<OkFrame, 'prefix' | 'message'>) {
  state.asked = null
  if (state.subscription === 'unasked') return subscribe(state, options)
  return state.subscription === 'closed' ? [lost(why)] : []
}

function lost({ prefix, message }: Pick<OkFrame, 'prefix' | 'message'>): SessionEffect {
  return { kind: 'lost', prefix, message }
}

function published(state: State, options: RelaySessionOptions, frame: OkFrame): SessionEffect[] {
  const pending = state.pending.get(frame.event)
  if (pending === undefined) return []
  const { accepted, prefix, message } = frame
  const action = okOutcome(accepted, prefix)
  if (action === 'authenticate' && pending.refusals < relayAuthTriesMax) {
    state.pending.set(frame.event, { event: pending.event, refusals: pending.refusals + 1 })
    return authenticate(state, options)
  }
  state.pending.delete(frame.event)
  const outcome: PublishOutcome =
    action === 'done'
      ? { outcome: 'accepted', duplicate: prefix === 'duplicate' }
      : { outcome: 'refused', prefix, message }
  return [{ kind: 'published', id: frame.event, outcome }]
}

/** The relay ended the subscription: for want of AUTH it is asked for again, for any other reason it is over. */
function closed(state: State, options: RelaySessionOptions, frame: ClosedFrame): SessionEffect[] {
  state.subscription = 'closed'
  // Relays say `restricted` too when they want to know who asks.
  if (frame.prefix === 'auth-required' || frame.prefix === 'restricted') return authenticate(state, options)
  return [lost(frame)]
}

function subscribe(state: State, options: RelaySessionOptions): SessionEffect[] {
  state.subscription = 'asked'
  const text = frameText(['REQ', options.subscription, ...options.filters()])
  return [{ kind: 'send', text }, ...sendPending(state)]
}

/** Sends every event that has no OK yet; a second copy of one is only a duplicate to the relay. */
function sendPending(state: State): SessionEffect[] {
  return [...state.pending.values()].map((pending) => sendEvent(pending.event))
}

function sendEvent(event: NostrEvent): SessionEffect {
  return { kind: 'send', text: `["EVENT",${eventJson(event)}]` }
}
