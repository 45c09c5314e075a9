import { relayUrlBytesMax } from '../limits.ts'
import { Refusal } from './refusal.ts'

/** Which relays may be named. `loopback_test` comes only from a local command-line option. @see spec/wire.md §2 */
export type RelayPolicy = 'production' | 'loopback_test'

/**
 * The URL itself, unchanged, if the policy admits it: `wss`, ASCII, without user info, query, fragment or white
 * space, at most `bytesMax` bytes; under `loopback_test` also `ws` to a numeric loopback address.
 * Refuses `forbidden`.
 * @see spec/wire.md §2
 */
export function checkRelayUrl(url: string, policy: RelayPolicy, bytesMax: number = relayUrlBytesMax): string {
  if (!isAdmitted(url, policy, bytesMax)) {
    throw new Refusal('forbidden', `the relay URL breaks the ${policy} policy`, { field: 'relay' })
  }
  return url
}

function isAdmitted(url: string, policy: RelayPolicy, bytesMax: number): boolean {
  // Printable ASCII without the characters that start a query or a fragment, name a user, or that a URL parser
  // silently rewrites.
  if (url.length > bytesMax || !/^wss?:\/\/[!-~]+$/.test(url) || /[?#\\]/.test(url)) return false
  const authority = url.split('/')[2] ?? ''
  if (authority === '' || authority.includes('@') || !URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  if (hostname === '') return false
  if (protocol === 'wss:') return true
  return policy === 'loopback_test' && authority.startsWith(hostname) && isLoopback(hostname)
}

function isLoopback(hostname: string): boolean {
  return hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
}
