import { isRefusal, Refusal } from '../../protocol/refusal.ts'
import type { Disk } from '../../seams/disk.ts'
import { sha256Hex } from '../../store/digest.ts'

/** Name of the blob that holds the content with this raw hex digest. */
export function blobFile(hex: string): string {
  return `artifact-${hex}.blob`
}

/** Name of the manifest with this raw hex digest. */
export function manifestFile(hex: string): string {
  return `manifest-${hex}.json`
}

/**
 * Keeps bytes in the store under a name that their digest decides. Identical bytes may be there already.
 * Refuses `corrupt_store` when other bytes are.
 */
export async function keepContent(
  disk: Disk,
  storeDir: string,
  name: string,
  bytes: Uint8Array,
): Promise<void> {
  const path = `${storeDir}/${name}`
  const there = await readBounded(disk, path, bytes.length)
  if (there === null) {
    // Two owners may keep the same content at once, each through a file of its own.
    await disk.replace(path, bytes, { temporary: `${storeDir}/.${name}.${process.pid}.tmp` })
    return
  }
  if (!Buffer.from(there).equals(bytes)) throw new Refusal('corrupt_store', `${name} holds other bytes`)
}

/**
 * Content with this raw hex digest, or null when the file is missing.
 * Refuses `corrupt_store` when its bytes are others, `unsafe_path` when it is no private file.
 */
export async function readContent(
  disk: Disk,
  storeDir: string,
  name: string,
  hex: string,
  bytesMax: number,
): Promise<Uint8Array | null> {
  const bytes = await readBounded(disk, `${storeDir}/${name}`, bytesMax)
  if (bytes === null) return null
  if (sha256Hex(bytes) !== hex) throw new Refusal('corrupt_store', `${name} was altered`)
  return bytes
}

/** A file that is longer than its content can be was altered. */
async function readBounded(disk: Disk, path: string, bytesMax: number): Promise<Uint8Array | null> {
  try {
    return await disk.read(path, bytesMax)
  } catch (error) {
    if (isRefusal(error, 'limit_exceeded')) throw new Refusal('corrupt_store', `${path} was altered`)
    throw error
  }
}
