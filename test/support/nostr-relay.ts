import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Event, EventRepository, type Filter, LogLevel } from '@nostr-relay/common'
import { NostrRelay } from '@nostr-relay/core'
import { Validator } from '@nostr-relay/validator'
import { WebSocketServer } from 'ws'
import { matchesFilter } from '../../src/relay/filter.ts'

/** A relay of another hand (@nostr-relay), behind a server of our own since it brings none. */
export interface ForeignRelay {
  readonly url: string
  /** Everything it keeps. */
  readonly kept: ReadonlyMap<string, Event>
  close(): Promise<void>
}

/**
 * @param caches its two caches, which answer for what it was asked before; off unless a test is about them
 * @param ignoresAuthors forgets whose events were asked for
 */
export async function nostrRelay({ caches = false, ignoresAuthors = false } = {}): Promise<ForeignRelay> {
  const kept = new Map<string, Event>()
  const ttl = caches ? {} : { filterResultCacheTtl: 0, eventHandlingResultCacheTtl: 0 }
  const relay = new NostrRelay(new Shelf(kept), { hostname: '127.0.0.1', logLevel: LogLevel.ERROR, ...ttl })
  const validator = new Validator()
  const http = createServer((_request, response) => response.writeHead(404).end())
  const sockets = new WebSocketServer({ server: http })
  sockets.on('connection', (socket) => {
    relay.handleConnection(socket)
    socket.on('message', async (data) => {
      try {
        const message = await validator.validateIncomingMessage(data)
        const [type, name, ...filters] = message
        const asked = type === 'REQ' ? filters.map(({ authors: _authors, ...rest }) => rest) : []
        await relay.handleMessage(socket, ignoresAuthors && type === 'REQ' ? [type, name, ...asked] : message)
      } catch (error) {
        socket.send(JSON.stringify(['NOTICE', String(error)]))
      }
    })
    socket.on('close', () => relay.handleDisconnect(socket))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  return {
    url: `ws://127.0.0.1:${port}`,
    kept,
    async close() {
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
      await new Promise((resolve) => http.close(resolve))
      await relay.destroy()
    },
  }
}

/** Keeps whatever it is given and gives what fits a stored query, tags included. */
class Shelf extends EventRepository {
  readonly #kept: Map<string, Event>

  constructor(kept: Map<string, Event>) {
    super()
    this.#kept = kept
  }

  isSearchSupported(): boolean {
    return false
  }

  upsert(event: Event): { isDuplicate: boolean } {
    const isDuplicate = this.#kept.has(event.id)
    this.#kept.set(event.id, event)
    return { isDuplicate }
  }

  find({ search: _search, ...filter }: Filter): Event[] {
    return [...this.#kept.values()]
      .filter((event) => matchesFilter(filter, event))
      .sort((one, other) => other.created_at - one.created_at)
      .slice(0, filter.limit)
  }

  async destroy(): Promise<void> {}
}
