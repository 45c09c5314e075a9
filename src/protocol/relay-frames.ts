import * as z from 'zod'
import {
  filterValuesMax,
  relayFiltersMax,
  relayFrameBytesMax,
  relayMessageCharsMax,
  subscriptionIdCharsMax,
} from '../limits.ts'
import { eventSchema, type NostrEvent } from './event.ts'
import { count } from './fields.ts'
import { isJsonObject, type JsonObject } from './json-value.ts'
import { isRefusal } from './refusal.ts'
import { parseStrictJsonText } from './strict-json.ts'

const hex64 = z.string().regex(/^[0-9a-f]{64}$/)
const values = <T extends z.ZodType>(item: T) => z.array(item).max(filterValuesMax).optional()
const subscription = z.string().min(1).max(subscriptionIdCharsMax)

/** What a client asks a relay for: the conditions of NIP-01, no others. A tag condition is `#` and one letter. */
export interface Filter {
  readonly ids?: readonly string[] | undefined
  readonly authors?: readonly string[] | undefined
  readonly kinds?: readonly number[] | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly limit?: number | undefined
  readonly [tag: `#${string}`]: readonly string[] | undefined
}

const plainConditions = {
  ids: values(hex64),
  authors: values(hex64),
  kinds: values(count),
  since: count.optional(),
  until: count.optional(),
  limit: count.optional(),
}
const isCondition = (key: string): boolean => Object.hasOwn(plainConditions, key) || /^#[A-Za-z]$/.test(key)
// The names are looked at before the schema, which would drop a `__proto__` without a word: a filter that lost a
// condition asks for more.
const filterSchema: z.ZodType<Filter> = z
  .custom<JsonObject>((value) => isJsonObject(value) && Object.keys(value).every(isCondition))
  .pipe(z.object(plainConditions).catchall(z.array(z.string()).max(filterValuesMax)))
const filters = z.array(filterSchema).min(1).max(relayFiltersMax)

/** What a client says to a relay (NIP-01, NIP-42, NIP-45). */
export type ClientFrame =
  | { readonly type: 'AUTH'; readonly event: NostrEvent }
  | { readonly type: 'EVENT'; readonly event: NostrEvent }
  | { readonly type: 'REQ'; readonly subscription: string; readonly filters: readonly Filter[] }
  | { readonly type: 'COUNT'; readonly subscription: string; readonly filters: readonly Filter[] }
  | { readonly type: 'CLOSE'; readonly subscription: string }

/** Why a relay refuses, by the machine-readable start of its message; `none` when it has none that we know. */
export const okPrefixes = [
  'duplicate',
  'pow',
  'blocked',
  'rate-limited',
  'invalid',
  'restricted',
  'auth-required',
  'mute',
  'error',
] as const
export type OkPrefix = (typeof okPrefixes)[number] | 'none'

/** What a relay says to a client. */
export type RelayFrame =
  | { readonly type: 'EVENT'; readonly subscription: string; readonly event: NostrEvent }
  | {
      readonly type: 'OK'
      readonly event: string
      readonly accepted: boolean
      readonly prefix: OkPrefix
      readonly message: string
    }
  | { readonly type: 'EOSE'; readonly subscription: string }
  | {
      readonly type: 'CLOSED'
      readonly subscription: string
      readonly prefix: OkPrefix
      readonly message: string
    }
  | { readonly type: 'NOTICE'; readonly message: string }
  | { readonly type: 'AUTH'; readonly challenge: string }
  | { readonly type: 'COUNT'; readonly subscription: string; readonly count: number }

/** A client's frame, strictly read, its event's signature unchecked. Null for anything else. */
export function parseClientFrame(text: string): ClientFrame | null {
  const parts = frameParts(text)
  return read(clientFrame, parts?.[0] === 'REQ' || parts?.[0] === 'COUNT' ? withFilters(parts) : parts)
}

/** A relay's frame, strictly read, its event's signature unchecked. Null for anything else. */
export function parseRelayFrame(text: string): RelayFrame | null {
  return read(relayFrame, frameParts(text))
}

/** The known prefix that a relay's message starts with: `rate-limited: slow down` is `rate-limited`. */
export function okPrefix(message: string): OkPrefix {
  return okPrefixes.find((prefix) => message.startsWith(`${prefix}:`)) ?? 'none'
}

/** One frame as the text that travels. */
export function frameText(parts: readonly [string, ...unknown[]]): string {
  return JSON.stringify(parts)
}

const message = z.string().transform((text) => text.slice(0, relayMessageCharsMax))

const clientFrame = z.union([
  z
    .tuple([z.enum(['AUTH', 'EVENT']), eventSchema])
    .transform(([type, event]): ClientFrame => ({ type, event })),
  z
    .tuple([z.enum(['REQ', 'COUNT']), subscription, filters])
    .transform(([type, id, wanted]): ClientFrame => ({ type, subscription: id, filters: wanted })),
  z
    .tuple([z.literal('CLOSE'), subscription])
    .transform(([type, id]): ClientFrame => ({ type, subscription: id })),
])

const relayFrame = z.union([
  z
    .tuple([z.literal('EVENT'), subscription, eventSchema])
    .transform(([type, id, event]): RelayFrame => ({ type, subscription: id, event })),
  z
    .tuple([z.literal('OK'), hex64, z.boolean(), message], z.unknown())
    .transform(([type, event, accepted, text]): RelayFrame => {
      return { type, event, accepted, prefix: okPrefix(text), message: text }
    }),
  z
    .tuple([z.literal('EOSE'), subscription], z.unknown())
    .transform(([type, id]): RelayFrame => ({ type, subscription: id })),
  z.tuple([z.literal('CLOSED'), subscription, message]).transform(([type, id, text]): RelayFrame => {
    return { type, subscription: id, prefix: okPrefix(text), message: text }
  }),
  z.tuple([z.literal('NOTICE'), message]).transform(([type, text]): RelayFrame => ({ type, message: text })),
  z
    .tuple([z.literal('AUTH'), z.string().min(1).max(relayMessageCharsMax)])
    .transform(([type, challenge]): RelayFrame => ({ type, challenge })),
  z
    .tuple([z.literal('COUNT'), subscription, z.object({ count })])
    .transform(([type, id, answer]): RelayFrame => ({ type, subscription: id, count: answer.count })),
])

function read<T>(schema: z.ZodType<T>, parts: unknown): T | null {
  const frame = schema.safeParse(parts)
  return frame.success ? frame.data : null
}

function frameParts(text: string): unknown[] | null {
  try {
    const { value } = parseStrictJsonText(text, { bytesMax: relayFrameBytesMax })
    return Array.isArray(value) ? value : null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

/** The filters of a frame are its remaining elements; gathered, a tuple can hold them. */
function withFilters([type, id, ...wanted]: unknown[]): unknown[] {
  return [type, id, wanted]
}
