/** What a value earns: nothing, or a code. Written apart from the schemas that are tested. */
export type Verdict = 'ok' | 'malformed' | 'forbidden' | 'bounds' | 'unsupported'
export type Rule = (value: unknown) => Verdict

const gravity: readonly Verdict[] = ['unsupported', 'malformed', 'forbidden', 'bounds', 'ok']

/** The gravest of several verdicts. @see spec/wire.md §1 */
export function worst(verdicts: readonly Verdict[]): Verdict {
  return gravity.find((verdict) => verdicts.includes(verdict)) ?? 'ok'
}

export const yes = (holds: boolean, otherwise: Verdict = 'malformed'): Verdict => (holds ? 'ok' : otherwise)

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Exactly these members, no more and no less. */
export function fields(rules: Readonly<Record<string, Rule>>): Rule {
  return (value) => {
    if (!isObject(value)) return 'malformed'
    const names = Object.keys(value)
    if (names.some((name) => !Object.hasOwn(rules, name))) return 'malformed'
    return worst(
      Object.entries(rules).map(([name, rule]) =>
        Object.hasOwn(value, name) ? rule(value[name]) : 'malformed',
      ),
    )
  }
}

export const hex =
  (digits: number): Rule =>
  (value) =>
    yes(typeof value === 'string' && value.length === digits && /^[0-9a-f]*$/.test(value))
export const id = hex(64)

const prime = 2n ** 256n - 2n ** 32n - 977n
const points = new Map<string, boolean>()

/** 64 hex that are the x of a point of y² = x³ + 7. */
export const key: Rule = (value) => {
  if (typeof value !== 'string' || id(value) !== 'ok') return 'malformed'
  const known = points.get(value)
  if (known !== undefined) return yes(known)
  const x = BigInt(`0x${value}`)
  const square = (x * x * x + 7n) % prime
  const lies = x < prime && power(square, (prime - 1n) / 2n) === 1n
  points.set(value, lies)
  return yes(lies)
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let factor = base
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left % 2n === 1n) result = (result * factor) % prime
    factor = (factor * factor) % prime
  }
  return result
}

export const whole =
  (min: number, max = Number.MAX_SAFE_INTEGER): Rule =>
  (value) =>
    yes(Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max)
export const natural = whole(0)
/** An integer; one outside of the range is `bounds`. */
export const ranged =
  (min: number, max: number): Rule =>
  (value) =>
    Number.isSafeInteger(value) ? yes(Number(value) >= min && Number(value) <= max, 'bounds') : 'malformed'

export const bool: Rule = (value) => yes(typeof value === 'boolean')
export const oneOf =
  (...words: readonly unknown[]): Rule =>
  (value) =>
    yes(words.includes(value))
export const orNull =
  (rule: Rule): Rule =>
  (value) =>
    value === null ? 'ok' : rule(value)
export const anyString: Rule = (value) => yes(typeof value === 'string')
export const anyObject: Rule = (value) => yes(isObject(value))

const isBlank = (text: string): boolean => /^\p{White_Space}*$/u.test(text)
const fits = (text: string, bytes: number): boolean => Buffer.byteLength(text, 'utf8') <= bytes

export const line =
  (bytes: number): Rule =>
  (value) => {
    if (typeof value !== 'string') return 'malformed'
    return yes(!isBlank(value) && fits(value, bytes) && !/\p{Cc}/u.test(value), 'bounds')
  }
export const prose =
  (bytes: number): Rule =>
  (value) => {
    if (typeof value !== 'string') return 'malformed'
    return yes(!isBlank(value) && fits(value, bytes), 'bounds')
  }

export const list =
  (rule: Rule, max: number): Rule =>
  (value) =>
    Array.isArray(value) ? worst([...value.map(rule), yes(value.length <= max, 'bounds')]) : 'malformed'
export const set =
  (rule: Rule, max: number): Rule =>
  (value) =>
    worst([list(rule, max)(value), yes(!Array.isArray(value) || new Set(value).size === value.length)])

const allRights = ['observe', 'operate', 'terminal', 'review', 'access_read', 'access_admin']
export const right = oneOf(...allRights)
export const rights: Rule = (value) => {
  if (!Array.isArray(value) || value.length === 0 || !value.every((one) => allRights.includes(one)))
    return 'malformed'
  return yes(value.join() === allRights.filter((one) => value.includes(one)).join())
}

/** Under the production policy, or the loopback test's. @see spec/wire.md §2 */
export const relayUrl =
  (policy: 'production' | 'loopback_test'): Rule =>
  (value) => {
    if (typeof value !== 'string') return 'malformed'
    const plain = /^wss:\/\/[^\s/?#@\\]+(\/[^\s?#\\]*)?$/.test(value) && !/[^!-~]/.test(value)
    const local =
      policy === 'loopback_test' && /^ws:\/\/(127(\.\d{1,3}){3}|\[::1\])(:\d+)?(\/[^\s?#\\]*)?$/.test(value)
    return yes((plain || local) && value.length <= 2_048 && URL.canParse(value), 'forbidden')
  }
