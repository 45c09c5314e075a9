import { open } from 'node:fs/promises'
import { inputBytesMax } from '../limits.ts'
import { Refusal, type RefusalCode } from '../protocol/refusal.ts'

let standardInputRead = false

/**
 * Reads a file that a person named, or standard input for `-`. At most `bytesMax` + 1 bytes are read, so that
 * whoever parses them sees that they are too many and says so. Refuses `usage` for a second `-`.
 * @throws Refusal `code` when it cannot be read, with `hint` if one is given
 */
export async function readInput(
  name: string,
  code: RefusalCode,
  bytesMax: number = inputBytesMax,
  hint?: string,
): Promise<Uint8Array> {
  if (name === '-' && standardInputRead) {
    throw new Refusal('usage', 'only one thing can be read from standard input: give the other as a file')
  }
  try {
    return name === '-' ? await readStandardInput(bytesMax + 1) : await readFile(name, bytesMax + 1)
  } catch (error) {
    const shown = name === '-' ? 'standard input' : name
    const cause = { cause: error, ...(hint === undefined ? {} : { hint }) }
    throw new Refusal(code, `cannot read ${shown}: ${(error as Error).message}`, cause)
  }
}

/**
 * A secret that a person hands over: `-` for standard input, a file that exists, or the text itself, which
 * other users of the machine can read in the process list, so `warn` is told.
 */
export async function readSecret(given: string, prefix: string, warn: () => void): Promise<string> {
  if (given.startsWith(prefix)) {
    warn()
    return given
  }
  const hint = `give ${prefix}…, a file that holds it, or - for standard input`
  const bytes = await readInput(given, 'configuration', inputBytesMax, hint)
  return new TextDecoder('utf-8').decode(bytes).trim()
}

async function readFile(name: string, bytes: number): Promise<Uint8Array> {
  const file = await open(name, 'r')
  try {
    const buffer = Buffer.alloc(bytes)
    let length = 0
    while (length < bytes) {
      const { bytesRead } = await file.read(buffer, length, bytes - length, null)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return new Uint8Array(buffer.subarray(0, length))
  } finally {
    await file.close()
  }
}

async function readStandardInput(bytes: number): Promise<Uint8Array> {
  standardInputRead = true
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of process.stdin) {
    parts.push(part as Uint8Array)
    length += (part as Uint8Array).length
    if (length >= bytes) break
  }
  return new Uint8Array(Buffer.concat(parts, length).subarray(0, bytes))
}
