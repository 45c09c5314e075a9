import { resolve } from 'node:path'
import { readKeyFile } from '../../bridge/host-keys.ts'
import { publicKeyFromText } from '../../bridge/public-key-text.ts'
import { readAccess } from '../../device/identity.ts'
import { parseBunkerUrl } from '../../device/remote-signer/bunker-url.ts'
import { openRemoteSigner } from '../../device/remote-signer.ts'
import { deviceConversationKeysMax, ownerAskWaitMs } from '../../limits.ts'
import { createConversationKeys } from '../../protocol/conversation-keys.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { RelayPolicy } from '../../protocol/relay-url.ts'
import { localSealer, type Sealer } from '../../protocol/sealer.ts'
import { createSigner } from '../../protocol/signer.ts'
import { systemRandom } from '../../seams/random.ts'
import { dialRelay } from '../../seams/ws-relay-socket.ts'
import { realDisk } from '../../store/disk.ts'
import type { Door } from '../door.ts'
import { readSecret } from '../input.ts'
import { printable } from '../printable.ts'

/** How a person says that they ask as a host's owner. */
export interface OwnerChoices {
  ownerSigner?: string[] | undefined
  ownerKeyFile?: string | undefined
  host?: string | undefined
  relay?: string | undefined
}

/** The owner's key at work, to be closed. */
export interface OpenOwnerKey {
  readonly sealer: Sealer
  /** How long one call may wait, in milliseconds, where a person may have to agree to it. */
  readonly waitMs?: number
  close(): void
}

/** Whether the owner asks, and not a device. */
export function asksAsOwner({ ownerSigner, ownerKeyFile }: OwnerChoices): boolean {
  return ownerSigner !== undefined || ownerKeyFile !== undefined
}

/**
 * Opens the owner's key: a private file, or a remote signer by its address, which is a secret. Refuses `usage` for
 * both, `configuration` for a file that is not there, and else as `readKeyFile` and `openRemoteSigner` do.
 */
export async function openOwnerKey(
  door: Door,
  choices: OwnerChoices,
  { dir, policy }: { dir: string; policy: RelayPolicy },
): Promise<OpenOwnerKey> {
  const { ownerSigner, ownerKeyFile } = choices
  if (ownerSigner === undefined) return openKeyFile(ownerKeyFile ?? '')
  const [given, second] = ownerSigner
  if (given === undefined || second !== undefined || ownerKeyFile !== undefined) {
    throw new Refusal('usage', 'give the owner one key: --owner-signer or --owner-key-file, once')
  }
  const bunker = parseBunkerUrl(await readBunker(door, given), policy)
  const signer = await openRemoteSigner({
    bunker,
    disk: realDisk,
    dir,
    clock: door.clock,
    random: systemRandom,
    dial: dialRelay,
    tell: (line) => door.err(`drawbridge: ${printable(line)}\n`),
  })
  return { sealer: signer, waitMs: ownerAskWaitMs, close: signer.close }
}

/**
 * The host that is asked, and over which relay: as named, else as this device's saved access says. Refuses `usage`
 * when neither does.
 */
export async function placeOf(
  choices: OwnerChoices,
  { dir, policy }: { dir: string; policy: RelayPolicy },
): Promise<{ host: string; relay: string }> {
  const named = choices.host === undefined ? null : publicKeyFromText(choices.host)
  if (named !== null && choices.relay !== undefined) return { host: named, relay: choices.relay }
  const there = (await realDisk.identity(dir)) !== null
  const saved = there ? ((await readAccess(realDisk, dir, policy))?.grant ?? null) : null
  const host = named ?? saved?.host
  const relay = choices.relay ?? (saved?.host === host ? saved?.relay : undefined)
  if (host !== undefined && relay !== undefined) return { host, relay }
  throw new Refusal('usage', 'no host is named, and no saved access of --state names one with its relay', {
    hint: 'say which host and over which relay: --host KEY --relay URL',
  })
}

async function openKeyFile(path: string): Promise<OpenOwnerKey> {
  const key = await readKeyFile(realDisk, resolve(path))
  if (key === null) throw new Refusal('configuration', `there is no key file at ${path}`)
  const keys = createConversationKeys(key.secret, deviceConversationKeysMax)
  return { sealer: localSealer(createSigner(key.secret), keys, systemRandom), close: () => {} }
}

/** A bunker address as it was given: whatever looks like one is never taken for the name of a file and so shown. */
async function readBunker(door: Door, given: string): Promise<string> {
  const looksLikeOne = /bunker:|[?&](relay|secret)=/i.test(given)
  const text = await readSecret(given, looksLikeOne ? '' : 'bunker://', () => door.err(bunkerWarning))
  return text.split('\n')[0]?.trim() ?? ''
}

const bunkerWarning =
  'drawbridge: other users of this computer can see a bunker address given as an argument; a file or - is safer\n'
