/** What happens on a relay connection. Text frames only; a binary frame or an over-long one ends it. */
export interface RelaySocketEvents {
  open(): void
  message(text: string): void
  /** The peer answered a ping. */
  pong(): void
  /** Called once, whatever ended the connection. */
  closed(reason: string): void
}

/** One WebSocket connection to a relay. */
export interface RelaySocket {
  send(text: string): void
  ping(): void
  /** Bytes accepted by `send` that the network has not taken yet. */
  bufferedBytes(): number
  close(): void
}

/** Dials a relay. Never throws: a failure arrives as `closed`. */
export type DialRelay = (url: string, events: RelaySocketEvents) => RelaySocket
