import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { NostrEvent } from '../../src/protocol/event.ts'

/** What the relay does with those who connect. */
export type Manner =
  /** Ends stored events that it never looked for, says that it took what it threw away, shows what nobody asked for. */
  | 'lies'
  /** Accepts the connection and never says anything, not even a pong. */
  | 'mute'
  /** Does not even answer the handshake. */
  | 'deaf'
  /** Cuts every connection as soon as something is said. */
  | 'dies'

export interface LyingRelay {
  readonly url: string
  manner: Manner
  /** Events that it shows to every subscriber. */
  shown: readonly NostrEvent[]
  /** Every event that was given to it: it says OK and keeps none. */
  readonly given: NostrEvent[]
  /** How often it was dialled. */
  readonly dialled: () => number
  cut(): void
  close(): Promise<void>
}

export async function lyingRelay(): Promise<LyingRelay> {
  const http = createServer((_request, response) => response.writeHead(404).end())
  const sockets = new WebSocketServer({ noServer: true, autoPong: false })
  const raw = new Set<Duplex>()
  let dialled = 0
  http.on('upgrade', (request, socket, head) => {
    dialled += 1
    raw.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => raw.delete(socket))
    if (relay.manner !== 'deaf')
      sockets.handleUpgrade(request, socket, head, (accepted) => serve(relay, accepted))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  const relay: LyingRelay = {
    url: `ws://127.0.0.1:${port}`,
    manner: 'lies',
    shown: [],
    given: [],
    dialled: () => dialled,
    cut() {
      for (const socket of raw) socket.destroy()
    },
    async close() {
      relay.cut()
      sockets.close()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  return relay
}

function serve(relay: LyingRelay, socket: WebSocket): void {
  const say = (...frame: unknown[]): void => socket.send(JSON.stringify(frame))
  socket.on('error', () => socket.terminate())
  socket.on('ping', () => relay.manner === 'lies' && socket.pong())
  if (relay.manner === 'lies') say('AUTH', 'a challenge that it will not look at')
  socket.on('message', (data) => {
    if (relay.manner === 'dies') return socket.terminate()
    if (relay.manner === 'mute') return
    const [type, first] = JSON.parse(data.toString()) as [string, NostrEvent]
    if (type === 'AUTH') say('OK', first.id, true, '')
    if (type === 'EVENT') {
      relay.given.push(first)
      say('OK', first.id, true, '')
      // And of others that were never given to it.
      say('OK', 'ab'.repeat(32), true, '')
    }
    if (type === 'REQ') lie(relay, String(first), say)
  })
}

function lie(relay: LyingRelay, subscription: string, say: (...frame: unknown[]) => void): void {
  say('EOSE', 'another subscription')
  say('EOSE', subscription)
  say('EOSE', subscription)
  for (const event of relay.shown) {
    say('EVENT', subscription, event)
    say('EVENT', 'another subscription', event)
    say('EVENT', subscription, { ...event, content: `${event.content}A` })
    say('EVENT', subscription, { ...event, sig: '00'.repeat(64) })
  }
  say('EVENT', subscription, { id: 1 })
  say('EVENT', subscription, null)
  say('CLOSED', 'another subscription', 'restricted: not yours')
  say('NOTICE', 'all is well')
}
