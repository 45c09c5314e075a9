import type { ActivitySummary } from '../../src/protocol/bodies/activity-summary.ts'
import type { Grant } from '../../src/protocol/bodies/grant.ts'
import type { Nudge } from '../../src/protocol/bodies/nudge.ts'
import type { Result } from '../../src/protocol/bodies/reply.ts'
import type { HostRequest } from '../../src/protocol/bodies/request.ts'
import { parseBody } from '../../src/protocol/body.ts'
import { type OpenedEnvelope, openVerified, sealEnvelope } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { encodeInvitation, type Invitation } from '../../src/protocol/invitation.ts'
import { nudgeMailbox, presenceMailbox, summaryMailbox } from '../../src/protocol/mailbox.ts'
import { connectRelay, type RelayConnection } from '../../src/protocol/relay-connection.ts'
import { deviceTaskId } from '../../src/protocol/task-id.ts'
import { type Clock, nowSeconds } from '../../src/seams/clock.ts'
import { randomId, systemRandom } from '../../src/seams/random.ts'
import type { DialRelay } from '../../src/seams/relay-socket.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { type TestKey, testKey } from './keys.ts'

/** One request as a host got it. */
export interface Heard {
  readonly request: HostRequest
  readonly event: NostrEvent
}

/** A host that answers as a test tells it to. */
export interface AnsweringHost {
  readonly key: TestKey
  readonly heard: Heard[]
  /** The nudges that came, opened. */
  readonly nudges: OpenedEnvelope[]
  /** What answers a request; null: nothing does. Replaced by tests. */
  answer: (heard: Heard) => Result | null
  /** Called with every request, answered or not. */
  onHeard: (heard: Heard) => void
  /** Its clock is this far ahead of the test's, in seconds. */
  aheadSeconds: number
  /** Changes the reply, signed and sealed, on its way out. */
  send: (event: NostrEvent) => void
  invite(): { code: string; invitation: Invitation }
  grantFor(device: string, changes?: Partial<Grant>): { grant: Grant; authorization: NostrEvent }
  publishPresence(device: string, generation?: number): void
  /** A nudge for a device, with what is changed of its body; not published. */
  nudgeFor(device: string, changes?: Partial<Nudge>): NostrEvent
  /** An activity summary for a device, with what is changed of its body; not published. */
  summaryFor(device: string, changes?: Partial<ActivitySummary>): NostrEvent
  publish(event: NostrEvent): void
  live: Promise<void>
  close(): void
}

export const ownerKey = testKey(12)

export function answeringHost(relay: string, clock: Clock, dial: DialRelay = dialRelay): AnsweringHost {
  const key = testKey(11)
  let connection: RelayConnection | null = null
  let becameLive: () => void = () => {}
  const now = (): number => nowSeconds(clock) + host.aheadSeconds
  let invitation = ''

  const seal = (
    recipient: string,
    mailbox: string,
    body: object,
    issuedAt: number,
    retainUntil: number,
  ): NostrEvent =>
    sealEnvelope({
      signer: key.signer,
      recipient,
      mailbox,
      body,
      conversationKey: key.with(recipient),
      issuedAt,
      retainUntil,
      random: systemRandom,
    })

  const host: AnsweringHost = {
    key,
    heard: [],
    nudges: [],
    onHeard: () => {},
    aheadSeconds: 0,
    live: new Promise((resolve) => {
      becameLive = resolve
    }),
    answer: (heard) => usualAnswer(host, heard),
    send: (event) => connection?.publish(event),
    publish: (event) => connection?.publish(event),
    invite() {
      const issued_at = now()
      invitation = randomId(systemRandom)
      const capability = randomId(systemRandom)
      const made = {
        host: key.publicKey,
        invitation,
        capability,
        issued_at,
        expires_at: issued_at + 300,
        relay,
      }
      return { code: encodeInvitation(made), invitation: made }
    },
    grantFor(device, changes = {}) {
      const issued_at = now()
      const grant: Grant = {
        v: 'openagents.host-grant.v1',
        requires: [],
        grant: randomId(systemRandom),
        host: key.publicKey,
        owner: ownerKey.publicKey,
        device,
        relay,
        rights: ['observe', 'operate'],
        epoch: 0,
        origin: { kind: 'invitation', id: invitation, issuer: key.publicKey },
        issued_at,
        expires_at: issued_at + 86_400,
        ...changes,
      }
      return { grant, authorization: seal(device, grant.grant, grant, grant.issued_at, grant.expires_at) }
    },
    publishPresence(device, generation = 1) {
      const observed_at = now()
      const body = {
        v: 'openagents.host-presence.v1',
        requires: [],
        host: key.publicKey,
        owner: ownerKey.publicKey,
        generation,
        protocol: 1,
        compatibility: { min: 1, max: 1 },
        capabilities: [],
        observed_at,
        telemetry: null,
      }
      host.publish(seal(device, presenceMailbox(key.with(device)), body, observed_at, observed_at + 300))
    },
    nudgeFor(device, changes = {}) {
      const issued_at = changes.issued_at ?? now()
      const body: Nudge = {
        v: 'openagents.host-nudge.v1',
        requires: [],
        host: key.publicKey,
        device,
        issued_at,
        expires_at: issued_at + 86_400,
        ...changes,
      }
      return seal(device, nudgeMailbox(key.with(device)), body, body.issued_at, body.expires_at)
    },
    summaryFor(device, changes = {}) {
      const body: ActivitySummary = {
        v: 'openagents.activity-summary.v1',
        requires: [],
        host: key.publicKey,
        subject: { kind: 'task', id: '7a'.repeat(32) },
        sequence: 1,
        phase: 'queued',
        headline: 'Task queued',
        attention: 'none',
        updated_at: now(),
        ...changes,
      }
      const mailbox = summaryMailbox(key.with(device))
      return seal(device, mailbox, body, body.updated_at, body.updated_at + 604_800)
    },
    close: () => connection?.close(),
  }

  const hear = (event: NostrEvent): void => {
    const opened = openVerified(event, key.publicKey, key.with)
    if (opened.mailbox === nudgeMailbox(key.with(event.pubkey))) {
      host.nudges.push(opened)
      return
    }
    const heard = { event, request: parseBody('request', opened.body, 'loopback_test') }
    host.heard.push(heard)
    host.onHeard(heard)
    const { request, issued_at, expires_at } = heard.request
    // As real hosts do: a request whose window is not now earns nothing.
    if (issued_at > now() + 60 || expires_at <= now()) return
    const result = host.answer(heard)
    if (result === null) return
    const body = {
      v: 'openagents.host-reply.v1',
      requires: [],
      request,
      request_event: event.id,
      host: key.publicKey,
      issued_at: now(),
      expires_at,
      result,
    }
    host.send(seal(event.pubkey, request, body, body.issued_at, expires_at))
  }

  connection = connectRelay(
    {
      url: relay,
      signer: key.signer,
      clock,
      dial,
      subscription: 'host',
      filters: () => [{ kinds: [3188], '#p': [key.publicKey] }],
    },
    { event: hear, live: () => becameLive(), published: () => {}, ended: () => {} },
  )
  return host
}

/** What a host that is content says to everything. */
export function usualAnswer(host: AnsweringHost, { request, event }: Heard): Result {
  const { op } = request
  const dispatched = (reference: string): Result => ({
    status: 'ok',
    outcome: { kind: 'dispatched', receipt: { operation: op.kind, reference } },
  })
  switch (op.kind) {
    case 'enroll.redeem':
      return {
        status: 'ok',
        outcome: { kind: 'granted', authorization: host.grantFor(event.pubkey).authorization },
      }
    case 'task.create':
      return dispatched(deviceTaskId(event.pubkey, request.request))
    case 'task.command':
      return dispatched(op.command.task)
    case 'task.queue':
      return {
        status: 'ok',
        outcome: { kind: 'queue', queue: { task: op.task, revision: 7, lease: null, items: [] } },
      }
    case 'workspace.list':
      return { status: 'ok', outcome: { kind: 'workspaces', workspaces: ['demo', 'site'] } }
    default:
      return { status: 'refused', code: 'unavailable', missing: null }
  }
}
