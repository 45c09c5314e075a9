import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { NostrEvent } from '../../src/protocol/event.ts'

/** One connection to a relay whose every word is the test's. */
export interface ScriptedConnection {
  /** Frames that the client sent, oldest first. */
  readonly heard: unknown[][]
  say(...frame: unknown[]): void
  /** The client's next frame of this type that was not taken yet; waits for it. */
  next(type: string): Promise<unknown[]>
  /** Waits for an AUTH, checks that it answers this challenge of this relay, and accepts or refuses it. */
  takeAuth(challenge: string, accepted?: boolean, message?: string): Promise<NostrEvent>
  /** Waits for a REQ and ends its stored events, which are these. Gives the subscription's ID. */
  serve(...stored: NostrEvent[]): Promise<string>
  /** Whether the client closed it, or the test cut it. */
  isOver(): boolean
  cut(): void
}

/** A real relay on the loopback that says nothing by itself, but pongs. */
export interface ScriptedRelay {
  readonly url: string
  readonly connections: ScriptedConnection[]
  /** The connection with this number, from 0; waits for it. */
  connection(index: number): Promise<ScriptedConnection>
  /** Answers what is asked over HTTP. Replaced by tests. */
  information: RequestListener
  close(): Promise<void>
}

/** @param script called with each new connection */
export async function scriptedRelay(
  script: (connection: ScriptedConnection, index: number) => void = () => {},
): Promise<ScriptedRelay> {
  const http = createServer((request, response) => relay.information(request, response))
  const sockets = new WebSocketServer({ server: http })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/at/this/path`
  const connected = waiters()

  const relay: ScriptedRelay = {
    url,
    connections: [],
    connection: (index) => connected.until(() => relay.connections[index], `connection ${index}`),
    information: (_, response) => void response.writeHead(404).end(),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets.clients) socket.terminate()
        sockets.close()
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
  sockets.on('connection', (socket) => {
    const connection = scripted(socket, url)
    relay.connections.push(connection)
    script(connection, relay.connections.length - 1)
    connected.wake()
  })
  return relay
}

function scripted(socket: WebSocket, url: string): ScriptedConnection {
  const taken = new Set<unknown[]>()
  const changed = waiters()
  let over = false
  const connection: ScriptedConnection = {
    heard: [],
    say: (...frame) => socket.send(JSON.stringify(frame)),
    async next(type) {
      const fits = (frame: unknown[]) => frame[0] === type && !taken.has(frame)
      const frame = await changed.until(() => connection.heard.find(fits), type)
      taken.add(frame)
      return frame
    },
    async takeAuth(challenge, accepted = true, message = '') {
      const event = (await connection.next('AUTH'))[1] as NostrEvent
      const tags = [
        ['relay', url],
        ['challenge', challenge],
      ]
      if (event.kind !== 22_242 || JSON.stringify(event.tags) !== JSON.stringify(tags))
        throw new Error(`not the AUTH for ${challenge}: ${JSON.stringify(event)}`)
      connection.say('OK', event.id, accepted, message)
      return event
    },
    async serve(...stored) {
      const subscription = String((await connection.next('REQ'))[1])
      for (const event of stored) connection.say('EVENT', subscription, event)
      connection.say('EOSE', subscription)
      return subscription
    },
    isOver: () => over,
    cut: () => socket.terminate(),
  }
  socket.on('message', (data) => {
    connection.heard.push(JSON.parse(data.toString()))
    changed.wake()
  })
  socket.on('close', () => {
    over = true
    changed.wake()
  })
  return connection
}

/** Waiting for something that others make come true. */
function waiters() {
  const waiting = new Set<() => void>()
  return {
    wake() {
      for (const look of [...waiting]) look()
    },
    until<T>(find: () => T | undefined, what: string): Promise<T> {
      return new Promise((resolve, reject) => {
        const patience = setTimeout(() => reject(new Error(`never came: ${what}`)), 5_000)
        const look = (): void => {
          const found = find()
          if (found === undefined) return
          waiting.delete(look)
          clearTimeout(patience)
          resolve(found)
        }
        waiting.add(look)
        look()
      })
    },
  }
}
