import canonicalize from 'canonicalize'
import { Refusal } from './refusal.ts'

/**
 * The canonical form of a JSON value (RFC 8785). Refuses `malformed` for what JSON cannot carry: a lone surrogate,
 * a number that is not finite, `undefined`.
 * @see spec/wire.md §1
 */
export function jcs(value: unknown): string {
  let text: string | undefined
  try {
    text = canonicalize(value)
  } catch (cause) {
    throw new Refusal('malformed', 'not a JSON value', { cause })
  }
  if (text === undefined) throw new Refusal('malformed', 'not a JSON value')
  return text
}
