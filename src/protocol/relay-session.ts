import { relayAuthTriesMax } from '../limits.ts'
import { type EventTemplate, eventJson, type NostrEvent } from './event.ts'
import { publishAction, relayAnswers } from './relay-answers.ts'
import { authTemplate, challengeOf, isAuthFor } from './relay-auth.ts'
import { type Filter, frameText, type OkPrefix, parseRelayFrame, type RelayFrame } from './relay-frames.ts'

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

/** How far authentication got: never asked for, under way, or what the relay said of the last one. */
export type AuthStanding = 'none' | 'signing' | 'sent' | 'accepted' | 'refused'

/** One connection's side of NIP-01 and NIP-42: feed it what happens, do what it says. */
export interface RelaySession {
  /** The relay was given its time to challenge (or to answer AUTH) and did not: go on without. */
  patienceEnded(): SessionEffect[]
  /**
   * The time to become live is over. A relay that serves the subscription and only never says that its stored events
   * are through (or never answers AUTH) is taken as live; nothing comes of one that said nothing at all.
   */
  liveOverdue(): SessionEffect[]
  received(text: string): SessionEffect[]
  /** The AUTH that was asked for, signed. One to a challenge that was replaced meanwhile means nothing. */
  signed(event: NostrEvent): SessionEffect[]
  /** The AUTH with this template cannot be signed: as good as a relay that refused it. */
  unsigned(template: EventTemplate): SessionEffect[]
  /** Publishes once the subscription was asked for; an event that is still pending is sent again. */
  publish(event: NostrEvent): SessionEffect[]
  /** Whether an event still waits for its OK here, or for its turn. */
  isPending(id: string): boolean
  /** Stops expecting an OK for an event. */
  forget(id: string): void
  isLive(): boolean
  auth(): AuthStanding
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
  answer: 'none' | 'accepted' | 'refused'
  /** AUTHs since the relay was last content: one that never is ends the connection. */
  tries: number
  subscription: 'unasked' | 'asked' | 'live' | 'closed'
  /** What came of the subscription as it was last asked for. */
  heard: 'nothing' | 'events' | 'end_of_stored'
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
    answer: 'none',
    tries: 0,
    subscription: 'unasked',
    heard: 'nothing',
    pending: new Map(),
  }
  return {
    patienceEnded: () => (state.subscription === 'unasked' ? subscribe(state, options) : []),
    liveOverdue: () => (state.subscription === 'asked' && state.heard !== 'nothing' ? becomeLive(state) : []),
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
    isPending: (id) => state.pending.has(id),
    forget: (id) => void state.pending.delete(id),
    isLive: () => state.subscription === 'live',
    auth: () => standing(state),
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
      return frame.subscription === options.subscription ? arrived(state, frame.event) : []
    case 'EOSE':
      return frame.subscription === options.subscription ? storedThrough(state) : []
    case 'CLOSED':
      return frame.subscription === options.subscription ? closed(state, options, frame) : []
    default:
      return []
  }
}

function arrived(state: State, event: NostrEvent): SessionEffect[] {
  const stored = state.heard !== 'end_of_stored'
  if (stored) state.heard = 'events'
  return [{ kind: 'event', event, stored }]
}

/** While AUTH is under way the relay may have answered as to a stranger: live is what comes after. */
function storedThrough(state: State): SessionEffect[] {
  if (state.subscription !== 'asked') return []
  state.heard = 'end_of_stored'
  return state.asked === null ? becomeLive(state) : []
}

function becomeLive(state: State): SessionEffect[] {
  state.subscription = 'live'
  state.heard = 'end_of_stored'
  state.tries = 0
  return [{ kind: 'live' }]
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
  return [{ kind: 'sign', template: authTemplate(options.url, challenge, options.now()) }]
}

function signed(state: State, { url }: RelaySessionOptions, event: NostrEvent): SessionEffect[] {
  const { asked } = state
  if (asked === null || asked.id !== null || !isAuthFor(event, url, asked.challenge)) return []
  asked.id = event.id
  return [{ kind: 'send', text: `["AUTH",${eventJson(event)}]` }]
}

function unsigned(state: State, options: RelaySessionOptions, template: EventTemplate): SessionEffect[] {
  const { asked } = state
  if (asked === null || asked.id !== null || challengeOf(template) !== asked.challenge) return []
  return refused(state, options, { prefix: 'none', message: 'the authentication could not be signed' })
}

function standing({ asked, answer }: State): AuthStanding {
  if (asked === null) return answer
  return asked.id === null ? 'signing' : 'sent'
}

type OkFrame = Extract<RelayFrame, { type: 'OK' }>
type ClosedFrame = Extract<RelayFrame, { type: 'CLOSED' }>

/**
 * The relay answered our AUTH. Accepted: the subscription is asked for again in any case, since what was asked
 * before may have been answered as to a stranger. Refused: no end by itself, it may not insist on AUTH here.
 */
function answered(state: State, options: RelaySessionOptions, frame: OkFrame): SessionEffect[] {
  state.answer = frame.accepted ? 'accepted' : 'refused'
  if (!frame.accepted) return refused(state, options, frame)
  state.asked = null
  if (state.subscription === 'live') state.tries = 0
  return subscribe(state, options)
}

function refused(
  state: State,
  options: RelaySessionOptions,
  why: Pick<OkFrame, 'prefix' | 'message'>,
): SessionEffect[] {
  state.asked = null
  if (state.subscription === 'unasked') return subscribe(state, options)
  if (state.subscription === 'asked' && state.heard === 'end_of_stored') return becomeLive(state)
  return state.subscription === 'closed' ? [lost(why)] : []
}

function lost({ prefix, message }: Pick<OkFrame, 'prefix' | 'message'>): SessionEffect {
  return { kind: 'lost', prefix, message }
}

function published(state: State, options: RelaySessionOptions, frame: OkFrame): SessionEffect[] {
  const pending = state.pending.get(frame.event)
  if (pending === undefined) return []
  const { accepted, prefix, message } = frame
  const action = publishAction(accepted, prefix)
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
  if (relayAnswers[frame.prefix].subscriber === 'authenticate') return authenticate(state, options)
  return [lost(frame)]
}

function subscribe(state: State, options: RelaySessionOptions): SessionEffect[] {
  state.subscription = 'asked'
  state.heard = 'nothing'
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
