import { type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { relayInformationBytesMax, relayInformationMs } from '../limits.ts'
import type { AskRelayInformation, RelayDocument } from './relay-information.ts'

/** Asks over a real connection, which is not kept. Redirections are not followed: the relay is the one that was named. */
export const askRelayInformation: AskRelayInformation = (url) => {
  return new Promise((resolve) => {
    const address = new URL(url)
    const tls = address.protocol === 'wss:'
    address.protocol = tls ? 'https:' : 'http:'
    const options: RequestOptions = {
      headers: { accept: 'application/nostr+json' },
      agent: false,
      signal: AbortSignal.timeout(relayInformationMs),
    }
    const asked = (tls ? tlsRequest : plainRequest)(address, options, (response) => {
      read(response).then(
        (document) => {
          asked.destroy()
          resolve(document)
        },
        (error: Error) => resolve({ ok: false, reason: reasonOf(error) }),
      )
    })
    asked.on('error', (error) => resolve({ ok: false, reason: reasonOf(error) }))
    asked.end()
  })
}

async function read(response: IncomingMessage): Promise<RelayDocument> {
  if (response.statusCode !== 200) return { ok: false, reason: `HTTP ${response.statusCode ?? 'nothing'}` }
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response) {
    if (!(part instanceof Uint8Array)) continue
    bytes += part.length
    if (bytes > relayInformationBytesMax)
      return { ok: false, reason: `over ${relayInformationBytesMax} bytes` }
    parts.push(part)
  }
  const dateMs = Date.parse(response.headers.date ?? '')
  const text = Buffer.concat(parts).toString('utf8')
  return { ok: true, text, dateMs: Number.isNaN(dateMs) ? null : dateMs }
}

function reasonOf(error: Error): string {
  return error.name === 'AbortError' || error.name === 'TimeoutError' ? 'no answer in time' : error.message
}
