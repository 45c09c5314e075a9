import { readFile } from 'node:fs/promises'
import { createConnection, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { controlConnectionsMax, controlIdleMs } from '../../src/limits.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { until } from '../support/until.ts'

let bridge: QuietBridge
let clients: Socket[]

beforeEach(async () => {
  bridge = await quietBridge()
  clients = []
})
afterEach(async () => {
  for (const client of clients) client.destroy()
  await bridge.stop()
})

describe('the places at the control socket', () => {
  it('are taken by clients that are there, and by no more of them', async () => {
    await fill()
    expect(await cut(await connected())).toBe(true)
    expect(clients[0]?.closed).toBe(false)
  })

  it('are free at once when their clients ended before a whole line', async () => {
    await fill()
    await Promise.all(clients.map((client) => cut(client.end('{"schema":'))))
    await answered()
  })

  it('are free at once when their clients went away', async () => {
    await fill()
    for (const client of clients) client.destroy()
    await answered()
  })

  it('are free after a few seconds without a whole line, however slowly it is said', async () => {
    await fill()
    const ends = clients.map(cut)
    await bridge.clock.advance(controlIdleMs / 2)
    for (const client of clients) client.write(' ')
    await bridge.clock.advance(controlIdleMs / 2)
    await Promise.all(ends)
    await answered()
  })

  it('are kept for a client that said its line and then ended, until it is answered', async () => {
    const token = (await readFile(join(bridge.home, 'run/control.token'), 'utf8')).trim()
    const client = await connected()
    client.setEncoding('utf8')
    let said = ''
    client.on('data', (text) => {
      said += text
    })
    client.end(`${JSON.stringify({ schema: 'drawbridge.control.v1', token, op: 'devices' })}\n`)
    expect(await cut(client)).toBe(true)
    expect(JSON.parse(said)).toEqual({ ok: true, devices: [] })
  })
})

/** Each place has its limit once the service knows of its client. */
async function fill(): Promise<void> {
  const limits = bridge.clock.pending()
  await Promise.all(Array.from({ length: controlConnectionsMax }, connected))
  await until(() => bridge.clock.pending() >= limits + controlConnectionsMax)
}

function connected(): Promise<Socket> {
  return new Promise((resolve) => {
    const client = createConnection({ path: join(bridge.home, 'run/control.sock'), allowHalfOpen: true })
    client.on('error', () => {})
    client.on('connect', () => resolve(client))
    client.resume()
    clients.push(client)
  })
}

/** Resolves when the service has ended its side. */
function cut(client: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    if (client.readableEnded || client.closed) resolve(true)
    client.on('end', () => resolve(true))
    client.on('close', () => resolve(true))
  })
}

async function answered(): Promise<void> {
  await until(async () => {
    const status = await bridge.operator.status().catch(() => null)
    return status?.ready === true
  }, 2_000)
}
