import { execa } from 'execa'
import { WebSocket } from 'ws'

/** Two loopback WebSocket hops: a frame to another process and a frame back. */
export async function hopsFloor(frameBytes: number): Promise<{ roundTrip(): Promise<void>; close(): void }> {
  const server = execa(process.execPath, [new URL('./echo.mjs', import.meta.url).pathname], { reject: false })
  const port = await new Promise((resolve) => server.stdout.once('data', (line) => resolve(Number(line))))
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false })
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
      server.stdin.end()
    },
  }
}
