import { keyFileBytesMax } from '../limits.ts'
import { newSecretKey, publicKeyOf } from '../protocol/keys.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import type { Disk } from '../seams/disk.ts'
import type { Random } from '../seams/random.ts'

/** A secret key of 64 hex and its public key. */
export interface KeyPair {
  readonly secret: string
  readonly publicKey: string
}

/**
 * Reads a key file: 64 lowercase hex and a newline, private.
 *
 * @returns null when there is none; refuses `corrupt_store` when it holds anything else and `unsafe_path` when others
 * may read it
 */
export async function readKeyFile(disk: Disk, path: string): Promise<KeyPair | null> {
  const bytes = await disk.read(path, keyFileBytesMax)
  if (bytes === null) return null
  const secret = /^([0-9a-f]{64})\n$/.exec(Buffer.from(bytes).toString('latin1'))?.[1]
  try {
    if (secret !== undefined) return { secret, publicKey: publicKeyOf(secret) }
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
  throw new Refusal('corrupt_store', `${path} does not hold a secret key`)
}

/** Reads the key file, making it (0600, durable) with a fresh key when there is none. */
export async function ensureKeyFile(disk: Disk, path: string, random: Random): Promise<KeyPair> {
  const existing = await readKeyFile(disk, path)
  if (existing !== null) return existing
  const secret = newSecretKey(random)
  const created = await disk.create(path, Buffer.from(`${secret}\n`))
  if (created) return { secret, publicKey: publicKeyOf(secret) }
  const other = await readKeyFile(disk, path)
  if (other === null) throw new Refusal('io', `${path} vanished while it was being made`)
  return other
}
