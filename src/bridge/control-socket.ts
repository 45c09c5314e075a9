import { createServer, type Server, type Socket } from 'node:net'
import {
  controlConnectionsMax,
  controlIdleMs,
  controlLineBytesMax,
  controlPathBytesMax,
  controlWaitMs,
} from '../limits.ts'
import { sha256Hex } from '../protocol/digest.ts'
import { toHex } from '../protocol/hex.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import type { Clock } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import type { Random } from '../seams/random.ts'
import { answerControl, encodeControlError, parseControlRequest } from './control-line.ts'
import type { Operator } from './operator.ts'
import type { HomePaths } from './paths.ts'

export interface ControlSocket {
  close(): Promise<void>
}

/**
 * Listens for the local operator: one line each way on a socket that only its owner can reach, with the token of
 * `run/control.token`, new at each start.
 *
 * Refuses `unsafe_path` when the socket's path is longer than a socket's may be. The caller holds the service's lock,
 * so what lies at the path was left by a service that is gone.
 * @see spec/cli.md
 */
export async function listenForControl(
  deps: { disk: Disk; clock: Clock; random: Random },
  paths: HomePaths,
  operator: Operator,
): Promise<ControlSocket> {
  if (Buffer.byteLength(paths.controlSocket) > controlPathBytesMax) {
    throw new Refusal('unsafe_path', 'the path of the home is too long for a control socket', {
      hint: `use a home whose path is at most ${controlPathBytesMax - 17} bytes`,
    })
  }
  const token = toHex(deps.random.bytes(32))
  await deps.disk.replace(paths.controlToken, new TextEncoder().encode(`${token}\n`))
  await deps.disk.remove(paths.controlSocket)
  const connections = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
    if (connections.size > controlConnectionsMax) socket.destroy()
    else serve(deps.clock, socket, token, operator)
  })
  await listen(server, paths.controlSocket)
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of connections) socket.destroy()
      await closed
      await deps.disk.remove(paths.controlToken)
    },
  }
}

function serve(clock: Clock, socket: Socket, token: string, operator: Operator): void {
  const chunks: Buffer[] = []
  let bytes = 0
  const cut = () => void socket.destroy()
  let limit = clock.after(controlIdleMs, cut)
  const within = (ms: number) => {
    limit.cancel()
    if (!socket.destroyed) limit = clock.after(ms, cut)
  }
  socket.on('close', () => limit.cancel())
  socket.on('error', cut)
  // Whoever ends before a whole line is never answered, and must not keep others out.
  socket.on('end', cut)
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > controlLineBytesMax + 1) return void socket.destroy()
    chunks.push(chunk)
    const feed = chunk.indexOf(0x0a)
    if (feed === -1) return
    socket.removeAllListeners('data')
    socket.off('end', cut)
    socket.resume()
    within(controlWaitMs)
    const line = Buffer.concat(chunks).subarray(0, bytes - chunk.length + feed)
    void answerLine(line, token, operator).then((answer) => {
      socket.end(answer)
      within(controlIdleMs)
    })
  })
}

async function answerLine(line: Uint8Array, token: string, operator: Operator): Promise<Uint8Array> {
  try {
    const request = parseControlRequest(line)
    // Digests are compared, so that how long it takes says nothing about the token.
    if (sha256Hex(request.token) !== sha256Hex(token)) throw new Refusal('forbidden', 'wrong control token')
    return await answerControl(operator, request)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return encodeControlError(error)
  }
}

/** The socket is made 0600: the mask holds for the one synchronous call that makes it. */
function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(new Refusal('io', 'the control socket cannot be made', { cause })))
    const mask = process.umask(0o177)
    try {
      server.listen(path, resolve)
    } finally {
      process.umask(mask)
    }
  })
}
