import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { Refusal } from '../../protocol/refusal.ts'

/**
 * Hashes a program that is named by its own canonical path.
 * Refuses `unsafe_path` when a link is on the way or it is no regular file, `io` when it cannot be read.
 * @returns `sha256:` and lowercase hex
 * @see spec/execution.md §4
 */
export async function pinProgram(path: string): Promise<string> {
  const canonical = await realpath(path).catch(() => null)
  if (canonical !== path) {
    const hint = canonical === null ? {} : { hint: `name it as ${canonical}` }
    throw new Refusal('unsafe_path', `the program ${path} is not named by its own canonical path`, hint)
  }
  const handle = await openProgram(path)
  try {
    if (!(await handle.stat()).isFile()) throw notRegular(path)
    return await digestOf(handle)
  } catch (cause) {
    if (cause instanceof Refusal) throw cause
    throw new Refusal('io', `the program ${path} cannot be read`, { cause })
  } finally {
    await handle.close()
  }
}

/** Non-blocking, so that a pipe in the program's place cannot hold us. */
async function openProgram(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : null
    if (code === 'ENXIO' || code === 'ELOOP') throw notRegular(path)
    throw new Refusal('io', `the program ${path} cannot be read`, { cause })
  }
}

async function digestOf(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(1 << 20)
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length)
    if (bytesRead === 0) return `sha256:${hash.digest('hex')}`
    hash.update(chunk.subarray(0, bytesRead))
  }
}

function notRegular(path: string): Refusal {
  return new Refusal('unsafe_path', `the program ${path} is not a regular file`)
}
