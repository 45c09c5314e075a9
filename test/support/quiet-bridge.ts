import { controlClient } from '../../src/bridge/control-client.ts'
import type { Counted } from '../../src/bridge/counters.ts'
import { initHome } from '../../src/bridge/home.ts'
import { type Log, silentLog } from '../../src/bridge/log.ts'
import type { Operator } from '../../src/bridge/operator.ts'
import { type Service, startService } from '../../src/bridge/service.ts'
import { bodyBytesMax } from '../../src/limits.ts'
import type { Grant } from '../../src/protocol/bodies/grant.ts'
import type { HostReply, Result } from '../../src/protocol/bodies/reply.ts'
import { parseBody } from '../../src/protocol/body.ts'
import { openVerified, sealEnvelope } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { parseInvitation } from '../../src/protocol/invitation.ts'
import { decryptToBytes, encrypt } from '../../src/protocol/nip44.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import type { Right } from '../../src/protocol/rights.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { randomId, systemRandom } from '../../src/seams/random.ts'
import type { AskRelayInformation } from '../../src/seams/relay-information.ts'
import type { Telemetry } from '../../src/seams/telemetry.ts'
import { realDisk } from '../../src/store/disk.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { type FakeConnection, fakeSockets } from './fake-relay-sockets.ts'
import { gitWorkspace } from './git-workspace.ts'
import { type TestKey, testKey } from './keys.ts'
import { tempDir } from './temp-dir.ts'

const relay = 'wss://relay.example.net/'

export interface Question {
  readonly key: TestKey
  readonly request: string
  readonly event: NostrEvent
}

/** A real service on real files whose clock and whose relay are the test's: nothing arrives that is not delivered. */
export interface QuietBridge {
  readonly home: string
  readonly host: string
  readonly clock: FakeClock
  readonly operator: Operator
  service(): Service
  connection(): FakeConnection
  /** Invites and redeems: the key's grant from then on. */
  enroll(key: TestKey, rights?: Right[], seconds?: number): Promise<Grant>
  /** Signs a request under the key's grant, dated now. */
  sign(key: TestKey, op: unknown, changes?: object): Question
  /** Signs a request of the same key anew, with its sealed JSON text edited: bytes that no honest writer makes. */
  retype(question: Question, edit: (text: string) => string): Question
  deliver(event: NostrEvent): void
  /** Resolves with every copy of the answers to a request, once there are as many. */
  answers(question: Question, count?: number): Promise<NostrEvent[]>
  /** Delivers a request and gives the result of its answer. */
  ask(key: TestKey, op: Operation, changes?: object): Promise<Result>
  open(question: Question, event: NostrEvent): HostReply
  /** How many copies of answers to a request were published. */
  heard(question: Question): number
  published(): NostrEvent[]
  untilCounted(reason: Counted, times?: number): Promise<void>
  stop(): Promise<void>
  /** Lets the time of the connection run out; its successor delivers what is stored at the relay before it is live. */
  renew(stored?: readonly NostrEvent[]): Promise<void>
  /** Starts again; what is stored at the relay is delivered before its subscription is live. */
  start(stored?: readonly NostrEvent[]): Promise<void>
}

export async function quietBridge(
  options: {
    disk?: Disk
    telemetry?: Telemetry
    log?: Log
    information?: AskRelayInformation
    relayLifetimeSeconds?: number
  } = {},
): Promise<QuietBridge> {
  const home = await tempDir()
  const { path: workspace } = await gitWorkspace()
  const clock = fakeClock()
  const sockets = fakeSockets()
  const deps = { disk: options.disk ?? realDisk, clock, random: systemRandom, home }
  const { host } = await initHome(deps, {
    owner: testKey(12).publicKey,
    relays: [relay],
    workspaces: [{ label: 'site', path: workspace }],
  })
  // Unless a test says otherwise the one connection stays, however far it moves the clock.
  const { relayLifetimeSeconds = 2_000_000 } = options
  const launcher = { launch: () => Promise.reject(new Error('nothing is launched here')) }
  const grants = new Map<string, Grant>()
  let service: Service | null = null

  const running = (): Service => {
    if (service === null) throw new Error('the service is stopped')
    return service
  }
  const published = (): NostrEvent[] =>
    sockets.connections.flatMap(({ sent }) =>
      sent.filter((frame) => frame[0] === 'EVENT').map((frame) => frame[1] as NostrEvent),
    )
  const repliesTo = ({ request }: Question): NostrEvent[] =>
    published().filter((event) => event.tags.some((tag) => tag[0] === 'h' && tag[1] === request))
  const until = async (fits: () => boolean | Promise<boolean>, what: string): Promise<void> => {
    const patience = Date.now() + 5_000
    while (!(await fits())) {
      if (Date.now() > patience) throw new Error(`not in time: ${what}`)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }

  const bridge: QuietBridge = {
    home,
    host,
    clock,
    operator: controlClient({ ...deps, disk: realDisk, clock: systemClock }),
    service: running,
    connection: sockets.last,
    async enroll(key, rights = ['observe', 'operate'], seconds = 86_400) {
      const grant_expires_at = nowSeconds(clock) + seconds
      const { code } = await bridge.operator.invite({ rights, grant_expires_at, relay: null })
      const { invitation, capability } = parseInvitation(code, 'production')
      const op: Operation = { kind: 'enroll.redeem', invitation, capability }
      const result = await bridge.ask(key, op, { grant: null, epoch: null })
      if (result.status !== 'ok' || result.outcome.kind !== 'granted') throw new Error('not granted')
      const opened = openVerified(result.outcome.authorization, key.publicKey, key.with)
      const grant = parseBody('grant', opened.body, 'production')
      grants.set(key.publicKey, grant)
      return grant
    },
    sign(key, op, changes = {}) {
      const now = nowSeconds(clock)
      const grant = grants.get(key.publicKey)
      const body = {
        v: 'openagents.host-request.v1',
        requires: [],
        request: randomId(systemRandom),
        host,
        grant: grant?.grant ?? null,
        epoch: grant?.epoch ?? null,
        relay,
        issued_at: now,
        expires_at: now + 60,
        op,
        ...changes,
      }
      const event = sealEnvelope({
        signer: key.signer,
        recipient: host,
        mailbox: body.request,
        body,
        conversationKey: key.with(host),
        issuedAt: body.issued_at,
        retainUntil: body.expires_at,
        random: systemRandom,
      })
      return { key, request: body.request, event }
    },
    retype({ key, request, event }, edit) {
      const plaintext = decryptToBytes(event.content, key.with(host), { contentBytesMax: bodyBytesMax * 2 })
      const text = edit(new TextDecoder().decode(plaintext))
      const { kind, created_at, tags } = event
      const content = encrypt(text, key.with(host), systemRandom.bytes(32))
      return { key, request, event: key.signer.sign({ kind, created_at, tags, content }) }
    },
    deliver(event) {
      const connection = sockets.last()
      connection.say('EVENT', connection.subscription(), event)
    },
    async answers(question, count = 1) {
      await until(() => repliesTo(question).length >= count, 'an answer')
      for (const event of repliesTo(question)) sockets.last().say('OK', event.id, true, '')
      return repliesTo(question)
    },
    async ask(key, op, changes) {
      const question = bridge.sign(key, op, changes)
      bridge.deliver(question.event)
      const [event] = await bridge.answers(question)
      if (event === undefined) throw new Error('no answer')
      return bridge.open(question, event).result
    },
    open({ key }, event) {
      return parseBody('reply', openVerified(event, key.publicKey, key.with).body, 'production')
    },
    heard: (question) => repliesTo(question).length,
    published,
    untilCounted: (reason, times = 1) =>
      until(async () => ((await running().status()).counters[reason] ?? 0) >= times, reason),
    async stop() {
      let stopped = false
      const stopping = running()
        .stop()
        .finally(() => {
          stopped = true
        })
      // The relay takes whatever is still on its way, whenever it comes.
      await until(() => {
        for (const event of published()) sockets.last().say('OK', event.id, true, '')
        return stopped
      }, 'the end of the service')
      await stopping
      service = null
    },
    async renew(stored = []) {
      await clock.advance(relayLifetimeSeconds * 900)
      goLive(sockets.last(), stored)
    },
    async start(stored = []) {
      service = await startService({
        ...deps,
        dial: sockets.dial,
        launcher,
        log: options.log ?? silentLog,
        pid: process.pid,
        ...(options.telemetry === undefined ? {} : { telemetry: options.telemetry }),
        ...(options.information === undefined ? {} : { information: options.information }),
        relayLifetimeSeconds,
      })
      goLive(sockets.last(), stored)
      await service.ready
    },
  }
  await bridge.start()
  return bridge
}

function goLive(connection: FakeConnection, stored: readonly NostrEvent[]): void {
  connection.open()
  connection.say('AUTH', 'challenge')
  const auth = connection.sent.find((frame) => frame[0] === 'AUTH')?.[1] as { id: string }
  connection.say('OK', auth.id, true, '')
  for (const event of stored) connection.say('EVENT', connection.subscription(), event)
  connection.say('EOSE', connection.subscription())
}
