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

/** A fresh key, nowhere yet. */
export function newKeyPair(random: Random): KeyPair {
  const secret = newSecretKey(random)
  return { secret, publicKey: publicKeyOf(secret) }
}

/** Makes the key file (0600, durable); one that is there with this key already is left alone. Refuses `io` for another. */
export async function keepKey(disk: Disk, path: string, key: KeyPair): Promise<void> {
  if (await disk.create(path, Buffer.from(`${key.secret}\n`))) return
  const there = await readKeyFile(disk, path)
  if (there?.secret !== key.secret) throw new Refusal('io', `${path} was made by another process meanwhile`)
}
