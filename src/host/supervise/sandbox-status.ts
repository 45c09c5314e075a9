import type { Readable } from 'node:stream'
import * as z from 'zod'

const lineSchema = z.object({
  'child-pid': z.number().int().optional(),
  'exit-code': z.number().int().optional(),
})
const statusBytesMax = 65_536

/** What the boundary's program tells on its status descriptor. */
export interface SandboxStatus {
  /** Process ID of the first process inside; null when it never came to be. */
  readonly started: Promise<number | null>
  /** Whether a command was executed inside; resolves when the descriptor closes. */
  readonly commandRan: Promise<boolean>
}

/**
 * Reads the status lines: a first one with `child-pid`, and one with `exit-code` if a command ran and exited.
 * @see spec/execution.md §7
 */
export function readStatus(stream: Readable): SandboxStatus {
  let text = ''
  let started: (pid: number | null) => void = () => {}
  const startedPromise = new Promise<number | null>((resolve) => {
    started = resolve
  })
  const commandRan = new Promise<boolean>((resolve) => {
    stream.on('data', (bytes: Buffer) => {
      text = (text + bytes.toString('latin1')).slice(0, statusBytesMax)
      const pid = numberOf(text, 'child-pid')
      if (pid !== null) started(pid)
    })
    stream.once('close', () => {
      started(null)
      resolve(numberOf(text, 'exit-code') !== null)
    })
    stream.on('error', () => stream.destroy())
  })
  return { started: startedPromise, commandRan }
}

/** The first number under `key` in the whole lines of `text`. */
function numberOf(text: string, key: 'child-pid' | 'exit-code'): number | null {
  for (const line of text.split('\n').slice(0, -1)) {
    const parsed = lineSchema.safeParse(parsedLine(line))
    const found = parsed.success ? parsed.data[key] : undefined
    if (found !== undefined) return found
  }
  return null
}

function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
