import type { Counted } from '../../../src/bridge/counters.ts'
import { envelopeAddress, openVerified } from '../../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../../src/protocol/event.ts'
import type { JsonObject } from '../../../src/protocol/json-value.ts'
import { cast, type Name, type Reply } from './fixture.ts'
import { type FreshHost, keyOf } from './fresh-host.ts'
import type { HostFrame } from './played-relay.ts'

/** What a host did since it was looked at last. */
export interface Observed {
  readonly replies: readonly Reply[]
  /** What the delivered event earned, in one word or two. */
  readonly earned: string
  readonly hears: readonly HostFrame[]
}

export interface Observer {
  /**
   * @param mailbox where the answer to what was delivered would be; `many` when it was many requests, whose answers are
   * counted and not kept
   */
  look(step: number, mailbox: string | null): Promise<Observed>
  /** The service began anew, and so did its counts. */
  restarted(): void
}

/** Counts that say nothing of why an event was not answered. */
const busy: readonly string[] = ['received', 'answered', 'published', 'nudges_answered']

const replySchema = 'openagents.host-reply.v1'

/** What is kept of an exchange beside replies, if its recorder asks for it. */
export const recordable: Readonly<Record<string, string>> = {
  presence: 'openagents.host-presence.v1',
  grant: 'openagents.host-grant.v1',
  summary: 'openagents.activity-summary.v1',
  nudge: 'openagents.host-nudge.v1',
  enrollment: 'openagents.host-enrollment-request.v1',
}

/**
 * Looks at a host between two steps.
 * @param records the schema strings of the bodies that are kept, beside replies
 */
export function observer(host: FreshHost, records: readonly string[]): Observer {
  const before = new Set<string>()
  let counted: Partial<Record<Counted, number>> = {}

  const recorded = (event: NostrEvent, at: number, step: number): Reply | null => {
    const read = openedBy(event)
    if (read === null || ![replySchema, ...records].includes(String(read.body['v']))) return null
    const { to, body } = read
    if (before.has(event.id)) return { at, step, to, opened: event.id }
    before.add(event.id)
    const grant = grantIn(to, body)
    return { at, step, to, opened: body, ...(grant === null ? {} : { grant }), event }
  }

  return {
    restarted() {
      counted = {}
    },
    async look(step, mailbox) {
      await host.idle()
      const replies: Reply[] = []
      const answers: string[] = []
      for (const { event, at } of host.relays.published()) {
        const reply = recorded(event, at, step)
        if (reply === null) continue
        replies.push(reply)
        if (mailbox === 'many' || isIn(event, mailbox)) answers.push(wordOf(reply))
      }
      const counters = await host.counters()
      const silence = reasonsSince(counted, counters)
      counted = counters
      const hears = host.relays.frames()
      const nothing = silence.length > 0 ? [`nothing ${silence.join(' ')}`] : []
      if (mailbox === 'many')
        return { replies: [], earned: [...tally(answers), ...nothing].join(', '), hears }
      const others = replies.map(({ opened }) => (typeof opened === 'string' ? 'again' : nameOf(opened)))
      const first = [answers, nothing, others].find((words) => words.length > 0) ?? ['nothing']
      return { replies, earned: first.join(' and '), hears }
    },
  }
}

/** Opens what the host sent, as the one of the cast whom it is for; null when it is for nobody of them. */
function openedBy(event: NostrEvent): { to: Name; body: JsonObject } | null {
  const { recipient } = envelopeAddress(event)
  const to = (Object.keys(cast) as Name[]).find((name) => keyOf(name).publicKey === recipient)
  if (to === undefined) return null
  const key = keyOf(to)
  const opened = openVerified(event, key.publicKey, key.with)
  if (opened.author !== keyOf('host').publicKey) throw new Error('not signed by the host')
  return { to, body: opened.body }
}

/** The grant that an answer carries, opened, or null. */
function grantIn(to: Name, reply: JsonObject): JsonObject | null {
  const { outcome } = (reply['result'] ?? {}) as { outcome?: { authorization?: NostrEvent } }
  if (outcome?.authorization === undefined) return null
  const key = keyOf(to)
  // An approver is told of a grant that only the approved device can open.
  if (envelopeAddress(outcome.authorization).recipient !== key.publicKey) return null
  return openVerified(outcome.authorization, key.publicKey, key.with).body
}

function isIn(event: NostrEvent, mailbox: string | null): boolean {
  return event.tags.some((tag) => tag[0] === 'h' && tag[1] === mailbox)
}

/** What a reply says, in one word or two. */
function wordOf({ opened }: Reply): string {
  if (typeof opened === 'string') return 'again'
  const { status, outcome, code, missing } = (opened['result'] ?? {}) as Record<string, unknown>
  if (status === 'ok') return String((outcome as JsonObject)['kind'])
  return ['refused', code, missing].filter((word) => word !== null).join(' ')
}

/** How many there are of each word, in the order of their first. */
function tally(words: readonly string[]): string[] {
  return [...new Set(words)].map((word) => `${words.filter((other) => other === word).length} ${word}`)
}

/** The short name of a body that is kept beside replies. */
function nameOf(body: JsonObject): string {
  const schema = String(body['v'])
  return Object.entries(recordable).find(([, known]) => known === schema)?.[0] ?? schema
}

function reasonsSince(
  before: Partial<Record<Counted, number>>,
  after: Partial<Record<Counted, number>>,
): string[] {
  const names = Object.keys(after) as Counted[]
  return names.filter((name) => !busy.includes(name) && (after[name] ?? 0) > (before[name] ?? 0))
}
