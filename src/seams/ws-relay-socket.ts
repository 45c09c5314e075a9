import { WebSocket } from 'ws'
import { relayFrameBytesMax } from '../limits.ts'
import type { DialRelay } from './relay-socket.ts'

/** Dials a relay with a real WebSocket. */
export const dialRelay: DialRelay = (url, events) => {
  const options = {
    maxPayload: relayFrameBytesMax,
    handshakeTimeout: 10_000,
    // A peer that is gone never says goodbye: without this it would hold a process that is done for half a minute.
    closeTimeout: 1_000,
    perMessageDeflate: false,
    // Each message in a round of the event loop of its own, however many a relay sends at once.
    allowSynchronousEvents: false,
  }
  const socket = new WebSocket(url, options)
  let reason = 'closed by the relay'
  let ended = false
  socket.on('open', () => events.open())
  socket.on('pong', () => events.pong())
  socket.on('message', (data, isBinary) => {
    if (isBinary) {
      reason = 'binary frame'
      socket.terminate()
      return
    }
    events.message(data.toString())
  })
  socket.on('error', (error) => {
    reason = error.message
  })
  socket.on('close', () => {
    if (ended) return
    ended = true
    events.closed(reason)
  })
  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text)
    },
    ping: () => {
      if (socket.readyState === WebSocket.OPEN) socket.ping()
    },
    bufferedBytes: () => socket.bufferedAmount,
    close: () => {
      reason = 'closed by us'
      socket.close()
    },
  }
}
