import { join } from 'node:path'
import { deviceAccessBytesMax, deviceConversationKeysMax, deviceKeyBytesMax } from '../limits.ts'
import type { Access } from '../protocol/bodies/access.ts'
import { parseBody } from '../protocol/body.ts'
import { type ConversationKeys, createConversationKeys } from '../protocol/conversation-keys.ts'
import { newSecretKey } from '../protocol/keys.ts'
import { Refusal } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { createSigner, type Signer } from '../protocol/signer.ts'
import { parseStrictJson } from '../protocol/strict-json.ts'
import type { Disk } from '../seams/disk.ts'
import type { Random } from '../seams/random.ts'

/** The device's own key: what it signs and opens with. */
export interface Identity {
  readonly signer: Signer
  readonly keys: ConversationKeys
}

/**
 * Opens the state directory, making it and the device's key when there is none. The key is made once: a key file
 * that is there and unreadable refuses `malformed`, it is never replaced.
 */
export async function openIdentity(disk: Disk, random: Random, dir: string): Promise<Identity> {
  await disk.makeDirectory(dir)
  const path = join(dir, 'device.key')
  await makeKey(disk, random, path)
  const bytes = await disk.read(path, deviceKeyBytesMax)
  const text = bytes === null ? '' : Buffer.from(bytes).toString('latin1')
  if (!/^[0-9a-f]{64}\n$/.test(text)) throw new Refusal('malformed', `${path} is not a key file`)
  const secret = text.trim()
  return { signer: createSigner(secret), keys: createConversationKeys(secret, deviceConversationKeysMax) }
}

async function makeKey(disk: Disk, random: Random, path: string): Promise<void> {
  if ((await disk.identity(path)) !== null) return
  await disk.create(path, Buffer.from(`${newSecretKey(random)}\n`))
}

/** The saved record of this device's access, or null when it was never paired. Refuses as `parseBody` does. */
export async function readAccess(disk: Disk, dir: string, policy: RelayPolicy): Promise<Access | null> {
  const bytes = await disk.read(join(dir, 'access.json'), deviceAccessBytesMax)
  if (bytes === null) return null
  const { value } = parseStrictJson(bytes, { bytesMax: deviceAccessBytesMax })
  return parseBody('access', value, policy)
}

/** Saves the record durably. */
export async function writeAccess(disk: Disk, dir: string, access: Access): Promise<void> {
  await disk.replace(join(dir, 'access.json'), Buffer.from(`${JSON.stringify(access)}\n`))
}
