import type { Readable } from 'node:stream'
import * as z from 'zod'

const lineSchema = z.object({
  'child-pid': z.number().int().optional(),
  'pid-namespace': z.number().int().optional(),
  'exit-code': z.number().int().optional(),
})
type StatusKey = keyof z.infer<typeof lineSchema>
const statusBytesMax = 65_536

/** The first process inside, as the boundary's program tells it. */
export interface StartedInside {
  readonly pid: number
  /** Inode of its PID namespace; null where the program does not say. */
  readonly namespace: number | null
}

/** What the boundary's program tells on its status descriptor. */
export interface SandboxStatus {
  /** Null when there never was a process inside. */
  readonly started: Promise<StartedInside | null>
  /** Whether a command was executed inside; resolves when the descriptor closes. */
  readonly commandRan: Promise<boolean>
}

/**
 * Reads the status lines: a first one with `child-pid`, and one with `exit-code` if a command ran and exited.
 * @see spec/execution.md §7
 */
export function readStatus(stream: Readable): SandboxStatus {
  let text = ''
  let started: (inside: StartedInside | null) => void = () => {}
  const startedPromise = new Promise<StartedInside | null>((resolve) => {
    started = resolve
  })
  const commandRan = new Promise<boolean>((resolve) => {
    stream.on('data', (bytes: Buffer) => {
      text = (text + bytes.toString('latin1')).slice(0, statusBytesMax)
      const pid = numberOf(text, 'child-pid')
      if (pid !== null) started({ pid, namespace: numberOf(text, 'pid-namespace') })
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
function numberOf(text: string, key: StatusKey): number | null {
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
