import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { relayInformationBytesMax } from '../../src/limits.ts'
import { startRelay } from '../../src/relay/listen.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { askRelayInformation } from '../../src/seams/http-relay-information.ts'
import { systemRandom } from '../../src/seams/random.ts'

let server: Server | null = null
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = null
})

async function serving(answer: RequestListener): Promise<string> {
  const listening = createServer(answer)
  server = listening
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  return `ws://127.0.0.1:${(listening.address() as AddressInfo).port}/a/path`
}

describe('a relay’s information document', () => {
  it('is asked for by its type at the path that is dialled, and comes with the relay’s clock', async () => {
    const seen: unknown[] = []
    const url = await serving((request, response) => {
      seen.push(request.method, request.url, request.headers.accept)
      response.setHeader('Date', 'Tue, 01 Dec 2026 10:00:00 GMT').end('{"name":"ü"}')
    })
    expect(await askRelayInformation(url)).toEqual({
      ok: true,
      text: '{"name":"ü"}',
      dateMs: Date.parse('2026-12-01T10:00:00Z'),
    })
    expect(seen).toEqual(['GET', '/a/path', 'application/nostr+json'])
  })

  it('has no clock when the relay tells none that reads', async () => {
    const url = await serving((_, response) => void response.setHeader('Date', 'soon').end('{}'))
    expect(await askRelayInformation(url)).toMatchObject({ ok: true, dateMs: null })
  })

  it.each([
    ['is not there', 404, 'HTTP 404'],
    ['has moved, which is not followed', 301, 'HTTP 301'],
    ['fails', 500, 'HTTP 500'],
  ])('that %s is none, with the reason', async (_, status, reason) => {
    const url = await serving((_request, response) => {
      response.writeHead(status, { Location: 'http://127.0.0.1:9/' }).end('{}')
    })
    expect(await askRelayInformation(url)).toEqual({ ok: false, reason })
  })

  it('that never ends is cut off at its bound', async () => {
    let written = 0
    const url = await serving((_, response) => {
      const more = (): void => {
        if (response.destroyed) return
        written += 8_192
        response.write('x'.repeat(8_192), more)
      }
      more()
    })
    const reason = `over ${relayInformationBytesMax} bytes`
    expect(await askRelayInformation(url)).toEqual({ ok: false, reason })
    expect(written).toBeLessThan(100 * relayInformationBytesMax)
  })

  it('of exactly its bound is taken', async () => {
    const url = await serving((_, response) => void response.end('x'.repeat(relayInformationBytesMax)))
    expect(await askRelayInformation(url)).toMatchObject({ ok: true })
  })

  it('that is cut in the middle is none', async () => {
    const url = await serving((_, response) => {
      response.writeHead(200, { 'Content-Length': '100' })
      response.write('{', () => response.destroy())
    })
    expect(await askRelayInformation(url)).toMatchObject({ ok: false })
  })

  it('of a relay that is not there, or speaks no HTTP, is none', async () => {
    expect(await askRelayInformation('ws://127.0.0.1:1/')).toMatchObject({ ok: false })
    const tcp = createTcpServer((socket) => socket.end('SSH-2.0-nothing\r\n'))
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
    const { port } = tcp.address() as AddressInfo
    expect(await askRelayInformation(`wss://127.0.0.1:${port}/`)).toMatchObject({ ok: false })
    expect(await askRelayInformation(`ws://127.0.0.1:${port}/`)).toMatchObject({ ok: false })
    tcp.close()
  })

  it('that does not come is given up after five seconds', async () => {
    const url = await serving(() => {})
    const from = Date.now()
    expect(await askRelayInformation(url)).toEqual({ ok: false, reason: 'no answer in time' })
    expect(Date.now() - from).toBeLessThan(7_000)
  }, 10_000)

  it('that trickles is given up after five seconds', async () => {
    const url = await serving((_, response) => {
      const trickle = setInterval(() => response.write(' '), 100)
      response.on('close', () => clearInterval(trickle))
    })
    expect(await askRelayInformation(url)).toEqual({ ok: false, reason: 'no answer in time' })
  }, 10_000)

  it('is what the embedded relay gives', async () => {
    const own = { clock: systemClock, random: systemRandom, host: '127.0.0.1', port: 0, serves: () => null }
    const relay = await startRelay(own)
    const document = await askRelayInformation(relay.url)
    expect(document.ok && JSON.parse(document.text)).toMatchObject({ supported_nips: [1, 11, 42, 45] })
    await relay.close()
  })
})
