import { WebSocket } from 'ws'
import { controlClient } from '../src/bridge/control-client.ts'
import type { Result } from '../src/protocol/bodies/reply.ts'
import { parseBody } from '../src/protocol/body.ts'
import { openVerified, sealEnvelope } from '../src/protocol/envelope.ts'
import { eventJson, parseEvent } from '../src/protocol/event.ts'
import { parseInvitation } from '../src/protocol/invitation.ts'
import { newSecretKey } from '../src/protocol/keys.ts'
import { conversationKey } from '../src/protocol/nip44.ts'
import type { Operation } from '../src/protocol/operations.ts'
import { createSigner, type Signer } from '../src/protocol/signer.ts'
import { type Clock, nowSeconds } from '../src/seams/clock.ts'
import { randomId, systemRandom } from '../src/seams/random.ts'
import { realDisk } from '../src/store/disk.ts'

/** A request that was signed ahead. */
export interface Signed {
  /** Its operation. */
  readonly kind: string
  readonly request: string
  readonly frame: string
}

/** A device that costs the measured machine next to nothing: it signs ahead and looks at answers later. */
export interface FleetDevice {
  readonly publicKey: string
  /** Signs a request, dated now. */
  sign(op: Operation, request?: string): Signed
  /** Sends it; gives the text of the first event in its mailbox. */
  send(signed: Signed): Promise<string>
  /** Verifies and opens an answer. */
  read(text: string): Result
  /** Connects anew: the relay counts the events of a connection. */
  reconnect(): Promise<void>
  close(): void
}

/** Enrolls so many devices with a host that is served at `relay`. */
export async function enrollFleet(
  count: number,
  options: { home: string; host: string; relay: string; clock: Clock },
): Promise<FleetDevice[]> {
  const operator = controlClient({
    disk: realDisk,
    clock: options.clock,
    random: systemRandom,
    home: options.home,
  })
  const fleet: FleetDevice[] = []
  for (let made = 0; made < count; made += 1) {
    const grant_expires_at = nowSeconds(options.clock) + 86_400
    const { code } = await operator.invite({
      rights: ['observe', 'operate', 'access_read'],
      grant_expires_at,
      relay: null,
    })
    fleet.push(await redeemed(code, options))
    // A host looks at no more than twenty strangers a second.
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  return fleet
}

async function redeemed(
  code: string,
  { host, relay, clock }: { host: string; relay: string; clock: Clock },
): Promise<FleetDevice> {
  const secret = newSecretKey(systemRandom)
  const signer = createSigner(secret)
  const key = conversationKey(secret, host)
  let grant: { grant: string; epoch: number } | null = null
  let line = await openLine(relay, signer, clock)
  const device: FleetDevice = {
    publicKey: signer.publicKey,
    sign(op, request = randomId(systemRandom)) {
      const issuedAt = nowSeconds(clock)
      const body = {
        v: 'openagents.host-request.v1',
        requires: [],
        request,
        host,
        grant: grant?.grant ?? null,
        epoch: grant?.epoch ?? null,
        relay,
        issued_at: issuedAt,
        expires_at: issuedAt + 60,
        op,
      }
      const times = { issuedAt, retainUntil: issuedAt + 60 }
      const event = sealEnvelope({
        signer,
        recipient: host,
        mailbox: request,
        body,
        conversationKey: key,
        random: systemRandom,
        ...times,
      })
      return { kind: op.kind, request, frame: `["EVENT",${eventJson(event)}]` }
    },
    send: (signed) => line.send(signed),
    read(text) {
      const event = parseEvent(JSON.parse(text)[2])
      return parseBody('reply', openVerified(event, signer.publicKey, () => key).body, 'loopback_test').result
    },
    async reconnect() {
      line.close()
      line = await openLine(relay, signer, clock)
    },
    close: () => line.close(),
  }
  const { invitation, capability } = parseInvitation(code, 'loopback_test')
  const result = device.read(
    await device.send(device.sign({ kind: 'enroll.redeem', invitation, capability })),
  )
  if (result.status !== 'ok' || result.outcome.kind !== 'granted') throw new Error('not granted')
  grant = parseBody(
    'grant',
    openVerified(result.outcome.authorization, signer.publicKey, () => key).body,
    'loopback_test',
  )
  return device
}

interface Line {
  send(signed: Signed): Promise<string>
  close(): void
}

/** Dials, authenticates and subscribes. */
function openLine(relay: string, signer: Signer, clock: Clock): Promise<Line> {
  const socket = new WebSocket(relay, { perMessageDeflate: false })
  const waiting = new Map<string, (text: string) => void>()
  /** Why a relay took no event of ours, by its ID. */
  const refused = new Map<string, (reason: Error) => void>()
  const line: Line = {
    send({ request, frame }) {
      return new Promise((resolve, reject) => {
        const event = eventIdOf(frame)
        const patience = setTimeout(() => reject(new Error(`no answer to ${request} in 60 s`)), 60_000)
        refused.set(event, reject)
        waiting.set(request, (text) => {
          clearTimeout(patience)
          refused.delete(event)
          resolve(text)
        })
        socket.send(frame)
      })
    },
    close: () => socket.terminate(),
  }
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.on('message', (data) => {
      const text = data.toString()
      if (text.startsWith('["EVENT"')) {
        const mailbox = /\["h","([0-9a-f]{64})"\]/.exec(text)?.[1] ?? ''
        waiting.get(mailbox)?.(text)
        waiting.delete(mailbox)
      } else if (text.startsWith('["AUTH"')) {
        const tags = [
          ['relay', relay],
          ['challenge', String(JSON.parse(text)[1])],
        ]
        const created_at = nowSeconds(clock)
        socket.send(JSON.stringify(['AUTH', signer.sign({ kind: 22_242, created_at, tags, content: '' })]))
        socket.send(JSON.stringify(['REQ', 'fleet', { kinds: [3188], '#p': [signer.publicKey], limit: 0 }]))
      } else if (text.startsWith('["EOSE"')) {
        resolve(line)
      } else if (text.includes(',false,')) {
        const refuse = refused.get(String(JSON.parse(text)[1])) ?? reject
        refuse(new Error(text))
      }
    })
  })
}

function eventIdOf(frame: string): string {
  return /"id":"([0-9a-f]{64})"/.exec(frame)?.[1] ?? ''
}
