import { createHash, randomBytes } from 'node:crypto'

/** An event as any library of the field has it. */
export interface ForeignEvent {
  id: string
  pubkey: string
  created_at: number
  kind: number
  tags: string[][]
  content: string
  sig: string
}

export type ForeignTemplate = Pick<ForeignEvent, 'kind' | 'created_at' | 'tags' | 'content'>

/** A key in the hands of another library. */
export interface ForeignKey {
  readonly publicKey: string
  sign(template: ForeignTemplate): Promise<ForeignEvent>
  verify(event: ForeignEvent): Promise<boolean>
  /** NIP-44 v2 to and from a peer. */
  encrypt(peer: string, text: string): string
  decrypt(peer: string, payload: string): string
}

/** A subscription and a way to publish, of another library. */
export interface ForeignConnection {
  /** Resolves when the relay said that it took the event. */
  publish(event: ForeignEvent): Promise<void>
  close(): void | Promise<void>
}

/** Dials a relay, proves who we are when it asks, and listens to what is sent to `key`. */
export type ForeignDial = (
  relay: string,
  key: ForeignKey,
  hear: (event: ForeignEvent) => void,
) => Promise<ForeignConnection>

// biome-ignore lint/suspicious/noExplicitAny: what another program reads out of JSON, looked at by name
export type Body = Record<string, any>

/** A device that knows the protocol only from its page: no line of it is the product's. */
export interface ForeignDevice {
  readonly key: ForeignKey
  /** The grant that an invitation brought; requests name it from then on. */
  redeem(code: string): Promise<Body>
  /** Sends a request and gives the result in its checked reply. */
  ask(op: Body): Promise<Body>
  /** Signs a request and sends it again each time it is called; gives the events that answer it. */
  askTwice(op: Body): Promise<ForeignEvent[]>
  /** The first presence that its host published. */
  presence(): Promise<Body>
  close(): void | Promise<void>
}

/** The envelope's bytes and digest are of the canonical body: keys in order, no spaces. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const names = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${names.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`
}

/** The envelope of a body, as text. */
export function envelopeOf(body: Body, issuedAt: number, retainUntil: number): string {
  const bytes = canonical(body)
  return canonical({
    v: 'openagents.artifact-envelope.v1',
    requires: [],
    artifact: {
      digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
      size: Buffer.byteLength(bytes),
      media_type: 'application/json',
      schema: body['v'],
    },
    inline: body,
    issued_at: issuedAt,
    retain_until: retainUntil,
  })
}

export async function foreignDevice(options: {
  key: ForeignKey
  host: string
  relay: string
  dial: ForeignDial
}): Promise<ForeignDevice> {
  const { key, host, relay } = options
  const heard: ForeignEvent[] = []
  const waiting = new Set<() => void>()
  let grant: Body | null = null

  const connection = await options.dial(relay, key, (event) => {
    heard.push(event)
    for (const look of [...waiting]) look()
  })

  /** Every event from the host that is in a mailbox, once there are as many. */
  const inMailbox = (fits: (mailbox: string) => boolean, count = 1): Promise<ForeignEvent[]> =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = heard.filter((event) => fits(tag(event, 'h')))
        if (found.length < count) return
        clearTimeout(patience)
        waiting.delete(look)
        resolve(found)
      }
      const patience = setTimeout(() => {
        waiting.delete(look)
        reject(new Error(`heard only ${JSON.stringify(heard).slice(0, 500)}`))
      }, 10_000)
      waiting.add(look)
      look()
    })

  const open = async (event: ForeignEvent): Promise<Body> => {
    if (event.kind !== 3188 || event.pubkey !== host) throw new Error('not an artifact of the host')
    if (tag(event, 'p') !== key.publicKey || tag(event, 't') !== 'oa:artifact:v1')
      throw new Error('not to us')
    if (!(await key.verify(event))) throw new Error('not signed by the host')
    const envelope: Body = JSON.parse(key.decrypt(host, event.content))
    const again = envelopeOf(envelope['inline'], envelope['issued_at'], envelope['retain_until'])
    if (canonical(envelope) !== again) throw new Error('the envelope and its body disagree')
    if (event.created_at !== envelope['issued_at']) throw new Error('the event and its envelope disagree')
    return envelope['inline']
  }

  const sign = async (op: Body): Promise<{ request: string; event: ForeignEvent }> => {
    const request = randomBytes(32).toString('hex')
    const now = Math.floor(Date.now() / 1000)
    const named = op['kind'] === 'enroll.redeem' ? null : grant
    const body = {
      v: 'openagents.host-request.v1',
      requires: [],
      request,
      host,
      grant: named?.['grant'] ?? null,
      epoch: named?.['epoch'] ?? null,
      relay,
      issued_at: now,
      expires_at: now + 60,
      op,
    }
    const tags = [
      ['p', host],
      ['h', request],
      ['t', 'oa:artifact:v1'],
    ]
    const content = key.encrypt(host, envelopeOf(body, now, now + 60))
    return { request, event: await key.sign({ kind: 3188, created_at: now, tags, content }) }
  }

  const device: ForeignDevice = {
    key,
    async redeem(code) {
      const { invitation, capability } = readInvitation(code)
      const result = await device.ask({ kind: 'enroll.redeem', invitation, capability })
      if (result['status'] !== 'ok') throw new Error(`not granted: ${JSON.stringify(result)}`)
      grant = await open(result['outcome'].authorization)
      return grant
    },
    async ask(op) {
      const { request, event } = await sign(op)
      await connection.publish(event)
      const [answer] = await inMailbox((mailbox) => mailbox === request)
      const reply = await open(answer ?? event)
      if (reply['request'] !== request || reply['request_event'] !== event.id || reply['host'] !== host)
        throw new Error('the reply is to something else')
      return reply['result']
    },
    async askTwice(op) {
      const { request, event } = await sign(op)
      await connection.publish(event)
      await inMailbox((mailbox) => mailbox === request)
      await connection.publish(event)
      return inMailbox((mailbox) => mailbox === request)
    },
    async presence() {
      for (let count = 1; ; count += 1) {
        const events = await inMailbox(() => true, count)
        const body = await open(events[count - 1] ?? expectEvent())
        if (body['v'] === 'openagents.host-presence.v1') return body
      }
    },
    close: () => connection.close(),
  }
  return device
}

function tag(event: ForeignEvent, name: string): string {
  return event.tags.find(([first]) => first === name)?.[1] ?? ''
}

/** The two secrets of `coder-host:` + base64url of version, host, invitation, capability, times and relay. */
function readInvitation(code: string): { invitation: string; capability: string } {
  const bytes = Buffer.from(code.slice('coder-host:'.length), 'base64url')
  return {
    invitation: bytes.subarray(33, 65).toString('hex'),
    capability: bytes.subarray(65, 97).toString('hex'),
  }
}

function expectEvent(): never {
  throw new Error('no event')
}
