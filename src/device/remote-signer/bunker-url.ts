import { bunkerRelaysMax, bunkerSecretCharsMax, bunkerUrlBytesMax } from '../../limits.ts'
import { isPublicKey } from '../../protocol/keys.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { checkRelayUrl, type RelayPolicy } from '../../protocol/relay-url.ts'

/** Where a remote signer is reached. The secret lets a client in: it is never shown. */
export interface BunkerUrl {
  /** The remote signer's own key, 64 hex; the key that it signs for may be another. */
  readonly remote: string
  readonly relays: readonly string[]
  readonly secret: string | null
}

/**
 * Reads `bunker://PUBKEY?relay=wss://…&secret=…` (NIP-46). Refuses `malformed`, naming only the part that is wrong,
 * and `forbidden` for a relay that the policy does not admit. No message carries the URL.
 */
export function parseBunkerUrl(text: string, policy: RelayPolicy): BunkerUrl {
  if (text.length > bunkerUrlBytesMax) throw wrong('length')
  const [, key, query] = /^bunker:\/\/([0-9a-fA-F]{64})\/?\?([!-~]+)$/.exec(text) ?? []
  if (key === undefined || query === undefined) throw wrong('form')
  const remote = key.toLowerCase()
  if (!isPublicKey(remote)) throw wrong('key')
  const parameters = new URLSearchParams(query)
  const relays = [...new Set(parameters.getAll('relay'))]
  if (relays.length === 0 || relays.length > bunkerRelaysMax) throw wrong('relay')
  for (const relay of relays) checkRelayUrl(relay, policy)
  const secrets = parameters.getAll('secret')
  const secret = secrets[0] ?? ''
  if (secrets.length > 1 || secret.length > bunkerSecretCharsMax) throw wrong('secret')
  return { remote, relays, secret: secret === '' ? null : secret }
}

function wrong(field: string): Refusal {
  const hint = 'it looks like bunker://KEY?relay=wss://…&secret=…, and your signer shows it'
  return new Refusal('malformed', `not the address of a remote signer: ${field}`, { field, hint })
}
