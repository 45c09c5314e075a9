import type { HostRequest, RequestHead } from './bodies/request.ts'
import { parseBody } from './body.ts'
import { isJsonObject } from './json-value.ts'
import { Refusal } from './refusal.ts'
import type { RelayPolicy } from './relay-url.ts'

/** A request that is whole, or one whose operation alone is bad. */
export type RequestReading =
  | { readonly ok: true; readonly request: HostRequest }
  | { readonly ok: false; readonly head: RequestHead; readonly refusal: Refusal }

/**
 * Reads a request body so that a bad operation can still be answered: devices probe hosts that way. When only `op`
 * is wrong, the rest comes back as `head` with the refusal that `op` earned; when anything else is wrong the refusal
 * is thrown, and such a request gets no answer.
 * @param looseOperation an integer of `op` is not written as one, which its value no longer shows: `malformed`
 * @see spec/wire.md §7
 */
export function parseRequest(value: unknown, policy: RelayPolicy, looseOperation = false): RequestReading {
  try {
    if (looseOperation) throw notAnInteger()
    return { ok: true, request: parseBody('request', value, policy) }
  } catch (error) {
    if (!(error instanceof Refusal) || !isJsonObject(value)) throw error
    const { op: _op, ...rest } = value
    return { ok: false, head: parseBody('request_head', rest, policy), refusal: error }
  }
}

function notAnInteger(): Refusal {
  return new Refusal('malformed', 'request: an integer is not written as one', { field: 'op' })
}
