import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'

/** Two loopback WebSocket hops: a frame there and a frame back. */
export async function hopsFloor(frameBytes: number): Promise<{ roundTrip(): Promise<void>; close(): void }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  await new Promise((resolve) => server.once('listening', resolve))
  server.on('connection', (peer) => peer.on('message', (data) => peer.send(data.toString())))
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    perMessageDeflate: false,
  })
  await new Promise((resolve) => socket.once('open', resolve))
  const frame = 'x'.repeat(frameBytes)
  return {
    roundTrip: () =>
      new Promise((resolve) => {
        socket.once('message', () => resolve())
        socket.send(frame)
      }),
    close: () => {
      socket.terminate()
      server.close()
    },
  }
}
