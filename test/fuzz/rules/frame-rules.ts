import { anyString, bool, fields, hex, id, isObject, list, natural, type Rule, whole, yes } from './rule.ts'
import { readStrictly } from './strict-reader.ts'

/** The seven fields of an event, by their shape. @see NIP-01 */
const event = fields({
  id,
  pubkey: id,
  created_at: natural,
  kind: whole(0, 65_535),
  tags: list(list(anyString, Number.POSITIVE_INFINITY), 2_048),
  content: anyString,
  sig: hex(128),
})
const name: Rule = (value) => yes(typeof value === 'string' && value.length >= 1 && value.length <= 64)

const conditions: Readonly<Record<string, Rule>> = {
  ids: list(id, 1_024),
  authors: list(id, 1_024),
  kinds: list(natural, 1_024),
  since: natural,
  until: natural,
  limit: natural,
}
const filter: Rule = (value) =>
  yes(
    isObject(value) &&
      Object.entries(value).every(([key, wanted]) => {
        const rule = Object.hasOwn(conditions, key) ? conditions[key] : undefined
        if (rule !== undefined) return rule(wanted) === 'ok'
        return /^#[A-Za-z]$/.test(key) && list(anyString, 1_024)(wanted) === 'ok'
      }),
  )

const clientFrames: Readonly<Record<string, readonly Rule[]>> = {
  AUTH: [event],
  EVENT: [event],
  CLOSE: [name],
}
const relayFrames: Readonly<Record<string, readonly Rule[]>> = {
  EVENT: [name, event],
  OK: [id, bool, anyString],
  EOSE: [name],
  CLOSED: [name, anyString],
  NOTICE: [anyString],
  AUTH: [(value) => yes(typeof value === 'string' && value.length >= 1 && value.length <= 1_024)],
  COUNT: [name, (value) => yes(isObject(value) && natural(value['count']) === 'ok')],
}
/** Relays say more than they must after these, and it is not looked at. */
const open = ['OK', 'EOSE']

/** The type of a frame that a relay takes from a client, or null. */
export function clientFrameType(text: string): string | null {
  const parts = partsOf(text)
  const [type, ...rest] = parts ?? []
  if (typeof type !== 'string') return null
  if (type === 'REQ' || type === 'COUNT') {
    const [subscription, ...filters] = rest
    const fits = filters.length >= 1 && filters.length <= 8 && filters.every((one) => filter(one) === 'ok')
    return name(subscription) === 'ok' && fits ? type : null
  }
  return fitting(clientFrames, type, rest)
}

/** The type of a frame that a client takes from a relay, or null. */
export function relayFrameType(text: string): string | null {
  const [type, ...rest] = partsOf(text) ?? []
  return typeof type === 'string' ? fitting(relayFrames, type, rest) : null
}

function fitting(table: typeof clientFrames, type: string, rest: readonly unknown[]): string | null {
  const rules = Object.hasOwn(table, type) ? (table[type] ?? []) : null
  if (rules === null || rest.length < rules.length) return null
  if (rest.length > rules.length && !(table === relayFrames && open.includes(type))) return null
  return rules.every((rule, index) => rule(rest[index]) === 'ok') ? type : null
}

function partsOf(text: string): unknown[] | null {
  const reading = readStrictly(Buffer.from(text, 'utf8'))
  const whole = Buffer.from(text, 'utf8').toString('utf8') === text
  return reading.ok && whole && Array.isArray(reading.value) ? reading.value : null
}
