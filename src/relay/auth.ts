import { relayAuthSeconds } from '../limits.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { verifyEvent } from '../protocol/signer.ts'

/** What an AUTH event is judged against. */
export interface AuthTerms {
  /** The challenge of this very connection. */
  readonly challenge: string
  /** The URLs by which this relay is reached. */
  readonly urls: readonly string[]
  /** Relay time, Unix seconds. */
  readonly now: number
}

/**
 * Why an AUTH event proves nothing, as the text of its OK, or null when its author is authenticated. The relay
 * named in it must be this one: otherwise another relay could pass our challenge on and be taken for its user.
 */
export function authRefusal(event: NostrEvent, terms: AuthTerms): string | null {
  if (event.kind !== 22_242) return 'invalid: not an AUTH event'
  if (tagValue(event, 'challenge') !== terms.challenge) return 'invalid: not the challenge of this connection'
  const relay = tagValue(event, 'relay')
  if (relay === null || !terms.urls.some((url) => sameRelay(url, relay)))
    return 'invalid: another relay is named'
  const offSeconds = event.created_at - terms.now
  if (Math.abs(offSeconds) > relayAuthSeconds) {
    return `invalid: dated ${Math.abs(offSeconds)} seconds ${offSeconds > 0 ? 'ahead of' : 'behind'} this relay's clock`
  }
  return verifyEvent(event) ? null : 'invalid: bad signature'
}

/** Whether two URLs name one relay: same scheme, host and port, and the same path but for a trailing slash. */
export function sameRelay(one: string, other: string): boolean {
  const [a, b] = [canonical(one), canonical(other)]
  return a !== null && a === b
}

function canonical(text: string): string | null {
  try {
    const url = new URL(text)
    return `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`
  } catch {
    return null
  }
}

function tagValue(event: NostrEvent, name: string): string | null {
  const named = event.tags.filter((tag) => tag[0] === name)
  return named.length === 1 ? (named[0]?.[1] ?? null) : null
}
