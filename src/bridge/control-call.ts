import { createConnection } from 'node:net'
import { controlLineBytesMax, controlWaitMs, keyFileBytesMax } from '../limits.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import type { Clock } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import { controlSchema, encodeLine, parseControlReply } from './control-line.ts'
import type { HomePaths } from './paths.ts'

/**
 * Sends one operation to the running service and gives its answer.
 *
 * Refuses `not_running` when no service listens, `timeout` when it does not answer in 120 s, and otherwise as the
 * operation does.
 */
export async function callControl(
  deps: { disk: Disk; clock: Clock },
  paths: HomePaths,
  op: { op: string } & Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const token = await readToken(deps.disk, paths)
  const line = encodeLine({ schema: controlSchema, token, ...op })
  return parseControlReply(await exchange(deps.clock, paths.controlSocket, line))
}

/** The refusal for a service that is not there. */
export function notRunning(): Refusal {
  return new Refusal('not_running', 'the service is not running', { hint: 'drawbridge serve' })
}

async function readToken(disk: Disk, paths: HomePaths): Promise<string> {
  const bytes = await disk.read(paths.controlToken, keyFileBytesMax)
  if (bytes === null) throw notRunning()
  return Buffer.from(bytes).toString('latin1').trim()
}

function exchange(clock: Clock, path: string, line: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const socket = createConnection(path)
    const fail = (refusal: Refusal) => {
      socket.destroy()
      reject(refusal)
    }
    const limit = clock.after(controlWaitMs, () => fail(new Refusal('timeout', 'the service did not answer')))
    socket.on('connect', () => socket.write(line))
    socket.on('error', (error) => fail(refusalFor(error)))
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > controlLineBytesMax + 1) fail(new Refusal('bounds', 'the service answered too much'))
      else chunks.push(chunk)
    })
    socket.on('close', () => limit.cancel())
    socket.on('end', () => {
      socket.end()
      const whole = Buffer.concat(chunks)
      if (whole.at(-1) !== 0x0a) fail(new Refusal('io', 'the service ended before it answered'))
      else resolve(whole.subarray(0, -1))
    })
  })
}

function refusalFor(error: Error): Refusal {
  if (isRefusal(error)) return error
  const code = 'code' in error ? error.code : null
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return notRunning()
  return new Refusal('io', 'the control socket failed', { cause: error })
}
