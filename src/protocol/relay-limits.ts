import * as z from 'zod'
import {
  answerBytesMax,
  answerOverheadBytesMax,
  clockSkewSeconds,
  eventBytesMax,
  relayEventBytesMin,
  relayInformationBytesMax,
  relayStoredEventsMin,
  requestSecondsMax,
} from '../limits.ts'
import { emptyEventBytes } from './envelope.ts'
import { count } from './fields.ts'
import { payloadChars } from './nip44.ts'
import { isRefusal } from './refusal.ts'
import { parseStrictJsonText } from './strict-json.ts'

/** `["EVENT",` and `]`. */
const eventFrameBytes = 10

/** How far from now the dates of our events may lie: a request lives so long, and clocks may differ so much. */
const pastSeconds = requestSecondsMax + clockSkewSeconds
const aheadSeconds = clockSkewSeconds

const number = count.nullable().catch(null)
const flag = z.boolean().nullable().catch(null)

const limitation = z.object({
  max_message_length: number,
  max_content_length: number,
  max_subscriptions: number,
  max_filters: number,
  max_limit: number,
  max_subid_length: number,
  min_pow_difficulty: number,
  created_at_lower_limit: number,
  created_at_upper_limit: number,
  auth_required: flag,
  payment_required: flag,
})
const document = z.object({ limitation: limitation.catch(() => limitation.parse({})) })

/** What a relay says that it takes (NIP-11), null where it says nothing that can be read. Lengths are bytes, times seconds. */
export type RelayLimits = z.infer<typeof limitation>

/** A document that says nothing. */
export const noLimits: RelayLimits = limitation.parse({})

/**
 * Reads a relay's information document: fields that we do not know are left alone, and a number that is none, or is
 * below zero, says nothing. Null for what is no JSON object.
 */
export function parseRelayLimits(text: string): RelayLimits | null {
  try {
    const read = document.safeParse(parseStrictJsonText(text, { bytesMax: relayInformationBytesMax }).value)
    return read.success ? read.data.limitation : null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

/**
 * How long a signed event may be, in bytes of its JSON, to reach a relay with these limits: 48 KiB, or what the relay
 * takes when that is less. A limit under which nothing at all could travel is not believed.
 * @see spec/wire.md §1
 */
export function eventBytesUnder(limits: RelayLimits): number {
  return Math.min(
    eventBytesMax,
    ...lengthsOf(limits).flatMap(({ bytes }) => (isCredible(bytes) ? [bytes] : [])),
  )
}

/**
 * How long the outcome of an answer may be, in bytes of its JSON, for the signed event to have at most `eventBytes`.
 * The padding of NIP-44 takes the text in steps.
 */
export function answerBytesUnder(eventBytes: number): number {
  let fits = 0
  let over = answerBytesMax + answerOverheadBytesMax + 1
  while (over - fits > 1) {
    const bytes = Math.floor((fits + over) / 2)
    if (emptyEventBytes + payloadChars(bytes) <= eventBytes) fits = bytes
    else over = bytes
  }
  return Math.max(0, fits - answerOverheadBytesMax)
}

/** What each limit of a length leaves for a signed event. */
function lengthsOf({ max_message_length: frame, max_content_length: content }: RelayLimits) {
  return [
    ...(frame === null ? [] : [{ name: 'max_message_length', said: frame, bytes: frame - eventFrameBytes }]),
    ...(content === null
      ? []
      : [{ name: 'max_content_length', said: content, bytes: content + emptyEventBytes }]),
  ]
}

function isCredible(bytes: number): boolean {
  return bytes >= relayEventBytesMin
}

/** What a person should know of these limits, a clause each; empty when nothing is tight. */
export function limitNotes(limits: RelayLimits): string[] {
  const notes: string[] = []
  const bytes = eventBytesUnder(limits)
  for (const { name, said, bytes: length } of lengthsOf(limits))
    if (!isCredible(length)) notes.push(`${name} of ${said} is not believed`)
  if (bytes < eventBytesMax) notes.push(`events up to ${bytes} bytes: longer answers come in smaller pages`)
  if (limits.max_subscriptions === 0) notes.push('no subscriptions')
  if ((limits.min_pow_difficulty ?? 0) > 0) notes.push('wants proof of work, which is not done')
  if (limits.payment_required === true) notes.push('wants to be paid')
  if (limits.max_limit !== null && limits.max_limit < relayStoredEventsMin) {
    notes.push(`gives at most ${limits.max_limit} stored events at a time`)
  }
  if ((limits.created_at_lower_limit ?? pastSeconds) < pastSeconds) {
    notes.push(`refuses events older than ${limits.created_at_lower_limit} s`)
  }
  if ((limits.created_at_upper_limit ?? aheadSeconds) < aheadSeconds) {
    notes.push(`refuses events dated more than ${limits.created_at_upper_limit} s ahead`)
  }
  return notes
}
