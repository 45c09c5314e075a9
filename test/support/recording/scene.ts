import type { Grant } from '../../../src/protocol/bodies/grant.ts'
import { parseBody } from '../../../src/protocol/body.ts'
import { openVerified, sealEnvelope } from '../../../src/protocol/envelope.ts'
import { envelopeTimesAgree } from '../../../src/protocol/envelope-times.ts'
import type { NostrEvent } from '../../../src/protocol/event.ts'
import { parseInvitation } from '../../../src/protocol/invitation.ts'
import type { JsonObject } from '../../../src/protocol/json-value.ts'
import type { Operation } from '../../../src/protocol/operations.ts'
import type { Right } from '../../../src/protocol/rights.ts'
import { id } from '../access.ts'
import { cast, type Fixture, type Name, type Reply, type Start, type Step } from './fixture.ts'
import { keyOf } from './fresh-host.ts'
import { asItWent, beginPlay, type Play } from './play.ts'

/** An event on its way to the host, and what is in it. */
export interface Sealed {
  readonly from: Name
  readonly event: NostrEvent
  readonly opened: JsonObject | null
}

/** What may be said of a delivery. */
export interface Delivery {
  readonly why?: string
  readonly relay?: string
  readonly connection?: number
}

/** An exchange that is being written: what it does happens on a real host at once. */
export interface Scene {
  readonly host: string
  readonly relay: string
  now(): number
  /** The grant that a name's requests carry. */
  grant(name: Name): Grant | undefined
  take(step: DistributiveOmit<Step, 'at'>): Promise<{ gives: unknown; replies: readonly Reply[] }>
  /** Signs a request under the name's grant, dated now; anything may be changed. */
  request(from: Name, op: unknown, changes?: object): Sealed
  /** Seals any body in a mailbox. */
  seal(from: Name, mailbox: string, body: JsonObject, until: number): Sealed
  /** Delivers an event and holds the host to what it earns. Gives the outcome, when there is one. */
  deliver(sealed: Sealed, earns: string, delivery?: Delivery): Promise<JsonObject>
  /** Delivers one that was delivered before. */
  again(sealed: Sealed, earns: string, delivery?: Delivery): Promise<void>
  /** Signs a request and delivers it. */
  ask(from: Name, op: unknown, earns: string, delivery?: Delivery & { changes?: object }): Promise<JsonObject>
  /** The operator invites; gives the operation that redeems it. */
  invite(rights?: Right[], changes?: object): Promise<Extract<Operation, { kind: 'enroll.redeem' }>>
  /** Redeems as a name, whose requests carry the grant from then on. */
  redeem(from: Name, op: Operation, delivery?: Delivery): Promise<Grant>
  /** Creates a task and gives its ID. */
  create(from: Name, title?: string): Promise<string>
  /** A command of a task. */
  command(task: string, changes?: object): Operation
  advance(seconds: number): Promise<void>
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** An exchange to be recorded. */
export interface Scenario {
  readonly name: string
  readonly about: string
  readonly start: Start
  /** What is kept beside replies. */
  readonly records: readonly string[]
  play(scene: Scene): Promise<void>
}

/** Plays a scenario on a fresh host and writes down what happened. */
export async function record(scenario: Scenario, base: string): Promise<Fixture> {
  const { name, about, start, records } = scenario
  const play = await beginPlay(scenario, base)
  const steps: Step[] = []
  const replies: Reply[] = []
  try {
    await scenario.play(sceneOn(play, scenario, steps, replies))
  } finally {
    await play.end()
  }
  const named = (Object.keys(cast) as Name[]).map((who) => [who, keyOf(who).publicKey] as const)
  const text = JSON.stringify([steps, replies, start])
  const keys = Object.fromEntries(named.filter(([, key]) => text.includes(key)))
  return { name, about, keys, start, records, steps, replies }
}

function sceneOn(play: Play, { name, start }: Scenario, steps: Step[], replies: Reply[]): Scene {
  const host = keyOf('host').publicKey
  const relay = start.relays[0] ?? ''
  const grants = new Map(start.grants.map((grant) => [grant.device, grant]))
  let requests = 0
  let commands = 0
  const now = () => Math.floor(play.host.clock.nowMs() / 1000)

  const take: Scene['take'] = async (given) => {
    const step = { at: now(), ...given } as Step
    const { observed, gives } = await play.take(step)
    const went = asItWent(step, observed, gives)
    if (step.do === 'deliver' && went.do === 'deliver' && step.earns !== went.earns) {
      throw new Error(`${name}, step ${play.steps()}: ${step.earns} was due, ${went.earns} came`)
    }
    steps.push(went)
    replies.push(...observed.replies)
    return { gives, replies: observed.replies }
  }
  const seal: Scene['seal'] = (from, mailbox, body, until) => {
    const issuedAt = Number(body['issued_at'])
    if (!envelopeTimesAgree(body, issuedAt, until)) throw new Error('the times of this body disagree')
    const key = keyOf(from)
    play.host.random.label(`${name}/seal/${requests}/${mailbox}`)
    const event = sealEnvelope({
      signer: key.signer,
      recipient: host,
      mailbox,
      body,
      // The host itself has no conversation with its own key but this one.
      conversationKey: key.with(host),
      issuedAt,
      retainUntil: until,
      random: play.host.random,
    })
    return { from, event, opened: body }
  }

  const scene: Scene = {
    host,
    relay,
    now,
    grant: (who) => grants.get(keyOf(who).publicKey),
    take,
    seal,
    request(from, op, changes = {}) {
      requests += 1
      const grant = scene.grant(from)
      const body = {
        v: 'openagents.host-request.v1',
        requires: [],
        request: id(requests),
        host,
        grant: grant?.grant ?? null,
        epoch: grant?.epoch ?? null,
        relay,
        issued_at: now(),
        expires_at: now() + 60,
        op,
        ...changes,
      } as unknown as JsonObject
      return seal(from, String(body['request']), body, Number(body['expires_at']))
    },
    async deliver({ from, event, opened }, earns, delivery = {}) {
      const done = await take({ do: 'deliver', from, ...delivery, earns, event, opened })
      return outcomeIn(done.replies)
    },
    async again({ from, event }, earns, delivery = {}) {
      await take({ do: 'deliver', from, ...delivery, earns, again: event.id })
    },
    async ask(from, op, earns, { changes, ...delivery } = {}) {
      return await scene.deliver(scene.request(from, op, changes), earns, delivery)
    },
    async invite(rights = ['observe', 'operate'], changes = {}) {
      const terms = { rights, grant_expires_at: now() + 86_400, ...changes }
      const { gives } = await take({ do: 'operator', call: 'invite', with: terms, gives: null })
      const { invitation, capability } = parseInvitation(String((gives as JsonObject)['code']), 'production')
      return { kind: 'enroll.redeem', invitation, capability }
    },
    async redeem(from, op, delivery) {
      const changes = { grant: null, epoch: null }
      const outcome = await scene.ask(from, op, 'granted', { ...delivery, changes })
      const key = keyOf(from)
      const opened = openVerified(outcome['authorization'] as unknown as NostrEvent, key.publicKey, key.with)
      const grant = parseBody('grant', opened.body, 'production')
      grants.set(key.publicKey, grant)
      return grant
    },
    async create(from, title = 'Tidy the changelog') {
      const task = { title, prompt: 'Sort the entries. Keep the dates.', workspace: 'site' }
      const outcome = await scene.ask(from, { kind: 'task.create', task }, 'dispatched')
      return String((outcome['receipt'] as JsonObject)['reference'])
    },
    command(task, changes = {}) {
      commands += 1
      const command = {
        command: id(0xc0 + commands),
        task,
        action: 'queue',
        based_on: 1,
        text: 'And then the index.',
        emulate: false,
        issued_at: now(),
        ...changes,
      }
      return { kind: 'task.command', command } as Operation
    },
    async advance(seconds) {
      await take({ do: 'advance', seconds })
    },
  }
  return scene
}

function outcomeIn(replies: readonly Reply[]): JsonObject {
  for (const { opened } of replies) {
    if (typeof opened === 'string') continue
    const { outcome } = (opened['result'] ?? {}) as { outcome?: JsonObject }
    if (outcome !== undefined) return outcome
  }
  return {}
}
