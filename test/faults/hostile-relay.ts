import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { dice } from '../support/dice.ts'
import type { HurriedClock } from '../support/hurried-clock.ts'
import { type HostileSession, type Intruder, openHostileSession } from './hostile-session.ts'
import { type RelayArchive, relayArchive } from './relay-archive.ts'
import { createFaults, type Faults } from './relay-faults.ts'

/** A real relay that misbehaves as its faults say, by its seed. With no odds set it is a good one. */
export interface HostileRelay {
  readonly url: string
  readonly seed: number
  readonly faults: Faults
  readonly archive: RelayArchive
  /** Events that it makes up or was never sent, which it may show to a subscriber. */
  intruders: readonly Intruder[]
  connections(): number
  /** Ends every connection now. */
  cutAll(): void
  close(): Promise<void>
}

/** Listens on a free port of the loopback. The draws follow from the seed; the network's own order does not. */
export async function hostileRelay(options: {
  seed: number
  clock: Pick<HurriedClock, 'after' | 'stir'>
}): Promise<HostileRelay> {
  const { seed, clock } = options
  const draws = dice(seed)
  const faults = createFaults(draws)
  const archive = relayArchive()
  const sessions = new Set<HostileSession>()
  // It has no information document; whoever asks is left without.
  const http = createServer((_request, response) => response.writeHead(404).end())
  const sockets = new WebSocketServer({ server: http, autoPong: false, perMessageDeflate: false })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  const url = `ws://127.0.0.1:${port}`

  const relay: HostileRelay = {
    url,
    seed,
    faults,
    archive,
    intruders: [],
    connections: () => sessions.size,
    cutAll() {
      for (const socket of sockets.clients) socket.terminate()
    },
    async close() {
      relay.cutAll()
      sockets.close()
      await new Promise((resolve) => http.close(resolve))
    },
  }

  sockets.on('connection', (socket) => {
    clock.stir()
    socket.on('error', () => socket.terminate())
    if (faults.happens('hang up at once')) {
      socket.terminate()
      return
    }
    const session = openHostileSession({
      url,
      clock,
      draws,
      faults,
      archive,
      others: () => sessions,
      intruders: () => relay.intruders,
      say(frame) {
        clock.stir()
        if (socket.readyState === socket.OPEN)
          socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
      },
      cut: () => socket.terminate(),
    })
    sessions.add(session)
    socket.on('ping', () => {
      if (!session.isMute()) socket.pong()
    })
    socket.on('message', (data) => {
      clock.stir()
      session.received(JSON.parse(data.toString()))
    })
    socket.on('close', () => {
      clock.stir()
      sessions.delete(session)
      session.ended()
    })
  })
  return relay
}
