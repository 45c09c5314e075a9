import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIPv6 } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { relayConnectionsMax, relayDeadSeconds, relayFrameBytesMax, relayPingSeconds } from '../limits.ts'
import { Refusal } from '../protocol/refusal.ts'
import { loadFastCrypto } from '../protocol/signer.ts'
import type { Clock, Timer } from '../seams/clock.ts'
import type { Random } from '../seams/random.ts'
import type { Hub } from './hub.ts'
import { relayInformation } from './information.ts'
import { openSession, type Session } from './session.ts'
import { createRelayStore } from './store.ts'

export interface RelayOptions {
  readonly clock: Clock
  readonly random: Random
  /** Address to listen on; port 0 picks a free one. */
  readonly host: string
  readonly port: number
  /** Host keys whose events are carried, asked at every event; null: anybody's. */
  readonly serves: () => readonly string[] | null
  /** URLs that this relay is reached by beside its own address (a proxy's), for checking AUTH. */
  readonly urls?: () => readonly string[]
}

export interface RelayStatistics {
  readonly connections: number
  readonly subscriptions: number
  readonly events: number
  readonly bytes: number
}

export interface Relay {
  /** `ws://HOST:PORT` as dialled by a neighbour. */
  readonly url: string
  readonly port: number
  statistics(): RelayStatistics
  /** Ends every connection and stops listening. */
  close(): Promise<void>
}

/**
 * Starts the embedded relay. Refuses `io` when the address cannot be listened on.
 * @see spec/wire.md §2, §8
 */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  await loadFastCrypto()
  const { clock, random, serves } = options
  const hub: Hub = { store: createRelayStore(clock, serves), clock, random, serves, listeners: new Set() }
  const http = createServer(answerHttp)
  const sockets = new WebSocketServer({
    server: http,
    maxPayload: relayFrameBytesMax,
    perMessageDeflate: false,
  })
  const sessions = new Set<Session>()
  sockets.on('connection', (socket, request) => accept(socket, request, { hub, sessions, options }))
  sockets.on('error', () => {})
  const port = await listen(http, options)
  return {
    url: `ws://${authority(options.host, port)}`,
    port,
    statistics: () => ({
      connections: sessions.size,
      subscriptions: [...sessions].reduce((sum, session) => sum + session.subscriptions(), 0),
      ...hub.store.size(),
    }),
    close: () => close(http, sockets),
  }
}

interface Listening {
  readonly hub: Hub
  readonly sessions: Set<Session>
  readonly options: RelayOptions
}

function accept(socket: WebSocket, request: IncomingMessage, { hub, sessions, options }: Listening): void {
  socket.on('error', () => socket.terminate())
  if (sessions.size >= relayConnectionsMax) {
    socket.close(1013, 'too many connections')
    return
  }
  const session = openSession(hub, {
    send(text) {
      if (socket.readyState === WebSocket.OPEN) socket.send(text, () => setImmediate(() => session.drained()))
    },
    bufferedBytes: () => socket.bufferedAmount,
    drop: () => socket.terminate(),
    urls: () => [...ownUrls(request, options), ...(options.urls?.() ?? [])],
  })
  sessions.add(session)
  const liveness = watchLiveness(socket, hub.clock)
  socket.on('message', (data, isBinary) => {
    if (isBinary) socket.close(1003, 'text frames only')
    else session.received(data.toString())
  })
  socket.on('close', () => {
    liveness.cancel()
    sessions.delete(session)
    session.ended()
  })
}

/** Pings, and ends a connection that has given no sign of life for too long. */
function watchLiveness(socket: WebSocket, clock: Clock): Timer {
  let heardMs = clock.nowMs()
  const heard = () => {
    heardMs = clock.nowMs()
  }
  socket.on('message', heard)
  socket.on('pong', heard)
  let timer: Timer
  const check = () => {
    if (clock.nowMs() - heardMs > relayDeadSeconds * 1000) {
      socket.terminate()
      return
    }
    socket.ping()
    timer = clock.after(relayPingSeconds * 1000, check)
  }
  timer = clock.after(relayPingSeconds * 1000, check)
  return { cancel: () => timer.cancel() }
}

/** The URLs that a client which reached this socket directly can have dialled. Its own Host header proves nothing. */
function ownUrls(request: IncomingMessage, options: RelayOptions): string[] {
  const { localAddress = options.host, localPort = options.port } = request.socket
  const address = localAddress.replace(/^::ffff:/, '')
  const names = new Set([address, options.host])
  if (address === '::1' || address.startsWith('127.')) names.add('localhost')
  return [...names].map((name) => `ws://${authority(name, localPort)}`)
}

function authority(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
}

function answerHttp(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader('Access-Control-Allow-Headers', '*')
  response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, OPTIONS')
  if (request.method === 'OPTIONS') {
    response.writeHead(204).end()
  } else if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405).end()
  } else if (request.headers.accept?.includes('application/nostr+json')) {
    response.writeHead(200, { 'Content-Type': 'application/nostr+json' })
    response.end(JSON.stringify(relayInformation()))
  } else {
    response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' })
    response.end('A Nostr relay for private artifacts. Connect with a Nostr client.\n')
  }
}

function listen(http: Server, { host, port }: RelayOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    http.once('error', (cause) => {
      reject(new Refusal('io', `cannot listen on ${authority(host, port)}: ${cause.message}`, { cause }))
    })
    http.listen(port, host, () => {
      const address = http.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

function close(http: Server, sockets: WebSocketServer): Promise<void> {
  for (const socket of sockets.clients) socket.terminate()
  sockets.close()
  return new Promise((resolve) => {
    http.close(() => resolve())
    http.closeAllConnections()
  })
}
