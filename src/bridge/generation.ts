import * as z from 'zod'
import { keyFileBytesMax } from '../limits.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { parseStrictJson } from '../protocol/strict-json.ts'
import type { Disk } from '../seams/disk.ts'

const generationFile = z.strictObject({
  schema: z.literal('drawbridge.generation.v1'),
  generation: z.int().nonnegative(),
})

/** Writes the first generation, which no service has. */
export async function createGeneration(disk: Disk, path: string): Promise<void> {
  await write(disk, path, 0)
}

/**
 * Counts one more start of the service, durably, and gives its number.
 *
 * Refuses `corrupt_store` when the file is missing or does not read: a lower number would make devices ignore us.
 */
export async function nextGeneration(disk: Disk, path: string): Promise<number> {
  const generation = await checkGeneration(disk, path)
  await write(disk, path, generation + 1)
  return generation + 1
}

/** The number of the last start. Refuses as `nextGeneration` does, and counts nothing. */
export async function checkGeneration(disk: Disk, path: string): Promise<number> {
  const bytes = await disk.read(path, keyFileBytesMax)
  const generation = bytes === null ? null : decode(bytes)
  if (generation !== null) return generation
  throw new Refusal('corrupt_store', `${path} is missing or does not read`)
}

async function write(disk: Disk, path: string, generation: number): Promise<void> {
  const file = { schema: 'drawbridge.generation.v1', generation }
  await disk.replace(path, new TextEncoder().encode(`${JSON.stringify(file)}\n`))
}

function decode(bytes: Uint8Array): number | null {
  try {
    const parsed = generationFile.safeParse(parseStrictJson(bytes, { bytesMax: keyFileBytesMax }).value)
    return parsed.success ? parsed.data.generation : null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}
