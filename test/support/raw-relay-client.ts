import { WebSocket } from 'ws'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { TestKey } from './keys.ts'

/** A client that says exactly what a test tells it to, and remembers everything it hears. */
export interface RawClient {
  readonly frames: unknown[][]
  send(...frame: unknown[]): void
  sendText(text: string): void
  /** The next frame that was not taken yet and fits; waits for it. */
  next(type: string | string[], id?: string): Promise<unknown[]>
  /** Answers the relay's latest challenge; resolves with its OK. */
  authenticate(key: TestKey, url?: string, createdAt?: number): Promise<unknown[]>
  publish(event: NostrEvent): Promise<unknown[]>
  /** Everything stored for a subscription, up to its EOSE or CLOSED. */
  query(subscription: string, ...filters: object[]): Promise<{ events: NostrEvent[]; end: unknown[] }>
  closed: Promise<void>
  pauseReading(): void
  resumeReading(): void
  close(): void
}

export async function rawClient(url: string): Promise<RawClient> {
  const socket = new WebSocket(url)
  socket.setMaxListeners(0)
  const frames: unknown[][] = []
  const taken = new Set<unknown[]>()
  socket.on('message', (data) => frames.push(JSON.parse(data.toString())))
  const heard = (complaint: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const patience = setTimeout(() => reject(new Error(complaint)), 3_000)
      socket.once('message', () => {
        clearTimeout(patience)
        resolve()
      })
    })
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve())
    socket.once('error', reject)
  })

  const next = async (type: string | string[], id?: string): Promise<unknown[]> => {
    const types = [type].flat()
    for (;;) {
      const fits = (one: unknown[]) => types.includes(String(one[0])) && (id === undefined || one[1] === id)
      const frame = frames.find((one) => fits(one) && !taken.has(one))
      if (frame !== undefined) {
        taken.add(frame)
        return frame
      }
      await heard(`no ${types} ${id ?? ''} in ${JSON.stringify(frames).slice(0, 400)}`)
    }
  }
  const send = (...frame: unknown[]): void => socket.send(JSON.stringify(frame))

  return {
    frames,
    send,
    sendText: (text) => socket.send(text),
    next,
    async authenticate(key, named = url, createdAt = Math.floor(Date.now() / 1000)) {
      while (!frames.some((frame) => frame[0] === 'AUTH'))
        await next('AUTH').then((frame) => taken.delete(frame))
      const challenge = String(frames.filter((frame) => frame[0] === 'AUTH').at(-1)?.[1])
      const event = key.signer.sign({
        kind: 22_242,
        created_at: createdAt,
        tags: [
          ['relay', named],
          ['challenge', challenge],
        ],
        content: '',
      })
      send('AUTH', event)
      return next('OK', event.id)
    },
    publish(event) {
      send('EVENT', event)
      return next('OK', event.id)
    },
    async query(subscription, ...filters) {
      const before = frames.length
      send('REQ', subscription, ...filters)
      const end = await next(['EOSE', 'CLOSED'], subscription)
      const events = frames.slice(before).filter((frame) => frame[0] === 'EVENT' && frame[1] === subscription)
      for (const frame of events) taken.add(frame)
      return { events: events.map((frame) => frame[2] as NostrEvent), end }
    },
    closed,
    pauseReading: () => socket.pause(),
    resumeReading: () => socket.resume(),
    close: () => socket.terminate(),
  }
}
