import type { DialRelay, RelaySocketEvents } from '../../src/seams/relay-socket.ts'

/** The far end of one dialled connection, driven by a test. */
export interface FakeConnection {
  readonly url: string
  /** Frames that were sent to the relay, oldest first. */
  readonly sent: unknown[][]
  pings: number
  /** A mute peer answers no ping. */
  mute: boolean
  /** Whether our side closed it. */
  closed: boolean
  open(): void
  say(...frame: unknown[]): void
  /** The same with text that may be no frame. */
  hear(text: string): void
  cut(reason?: string): void
  /** Opens, lets the session ask, and ends the stored events. */
  goLive(): void
  /** The ID of its subscription. */
  subscription(): string
}

export interface FakeSockets {
  readonly dial: DialRelay
  readonly connections: FakeConnection[]
  /** The newest connection. */
  last(): FakeConnection
}

/** Sockets whose other end is the test: nothing happens on them by itself but pongs. */
export function fakeSockets(): FakeSockets {
  const connections: FakeConnection[] = []
  const last = (): FakeConnection => {
    const connection = connections.at(-1)
    if (connection === undefined) throw new Error('nothing was dialled')
    return connection
  }
  return {
    connections,
    last,
    dial(url, events) {
      const connection = fakeConnection(url, events)
      connections.push(connection)
      return {
        send: (text) => void connection.sent.push(JSON.parse(text)),
        ping() {
          connection.pings += 1
          if (!connection.mute && !connection.closed) events.pong()
        },
        bufferedBytes: () => 0,
        close() {
          connection.closed = true
        },
      }
    },
  }
}

function fakeConnection(url: string, events: RelaySocketEvents): FakeConnection {
  let over = false
  const connection: FakeConnection = {
    url,
    sent: [],
    pings: 0,
    mute: false,
    closed: false,
    open: () => events.open(),
    say: (...frame) => connection.hear(JSON.stringify(frame)),
    hear(text) {
      if (!over) events.message(text)
    },
    cut(reason = 'cut') {
      over = true
      events.closed(reason)
    },
    goLive() {
      connection.open()
      connection.say('AUTH', 'challenge')
      const auth = connection.sent.find((frame) => frame[0] === 'AUTH')?.[1] as { id: string }
      connection.say('OK', auth.id, true, '')
      connection.say('EOSE', connection.subscription())
    },
    subscription() {
      const req = connection.sent.find((frame) => frame[0] === 'REQ')
      if (req === undefined) throw new Error('nothing was asked for')
      return String(req[1])
    },
  }
  return connection
}
