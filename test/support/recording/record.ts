import { parseBody } from '../../../src/protocol/body.ts'
import { artifactKind, openVerified, sealEnvelope } from '../../../src/protocol/envelope.ts'
import { envelopeTimesAgree } from '../../../src/protocol/envelope-times.ts'
import type { NostrEvent } from '../../../src/protocol/event.ts'
import { parseInvitation } from '../../../src/protocol/invitation.ts'
import type { JsonObject } from '../../../src/protocol/json-value.ts'
import { decryptToBytes, encrypt } from '../../../src/protocol/nip44.ts'
import type { Operation } from '../../../src/protocol/operations.ts'
import { id } from '../access.ts'
import { cast, type Fixture, type Name, type Reply, type Step } from './fixture.ts'
import { keyOf } from './fresh-host.ts'
import { asItWent, beginPlay, type Play } from './play.ts'
import type { Scenario, Scene } from './scene.ts'

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
    const [due, came] = [step, went].map((one) => ('earns' in one ? one.earns : undefined))
    if (due !== came) throw new Error(`${name}, step ${play.steps()}: ${due} was due, ${came} came`)
    steps.push(went)
    replies.push(...observed.replies)
    return { gives, replies: observed.replies }
  }
  const raw: Scene['raw'] = (from, mailbox, plaintext) => {
    const key = keyOf(from)
    play.host.random.label(`${name}/raw/${requests}/${mailbox}`)
    const event = key.signer.sign({
      kind: artifactKind,
      created_at: now(),
      tags: [
        ['p', host],
        ['h', mailbox],
        ['t', 'oa:artifact:v1'],
      ],
      content: encrypt(plaintext, key.with(host), play.host.random.bytes(32)),
    })
    return { from, event, opened: null }
  }
  const seal: Scene['seal'] = (from, mailbox, body, until, issuedAt = Number(body['issued_at'])) => {
    if (!envelopeTimesAgree(body, issuedAt, until)) throw new Error('the times of this body disagree')
    const key = keyOf(from)
    play.host.random.label(`${name}/seal/${requests}/${mailbox}`)
    const event = sealEnvelope({
      signer: key.signer,
      recipient: host,
      mailbox,
      body,
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
    raw,
    retyped({ from, event, opened }, edit) {
      const key = keyOf(from).with(host)
      const plaintext = decryptToBytes(event.content, key, { contentBytesMax: event.content.length })
      const text = edit(new TextDecoder().decode(plaintext))
      return { ...raw(from, String(opened?.['request']), text), opened }
    },
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
    async hear(from, op, earns) {
      const { event, opened } = scene.request(from, op)
      return (await take({ do: 'deliver', from, earns, event, opened })).replies
    },
    async flood(from, op, { times, earns, changes, ...delivery }) {
      const { request: _own, ...like } = scene.request(from, op, changes).opened ?? {}
      await take({ do: 'deliver', from, ...delivery, earns, like, times })
    },
    async invite(rights = ['observe', 'operate'], changes = {}) {
      const terms = { rights, grant_expires_at: now() + 86_400, ...changes }
      const { gives } = await take({ do: 'operator', call: 'invite', with: terms, gives: null })
      const { invitation, capability } = parseInvitation(String((gives as JsonObject)['code']), 'production')
      return { kind: 'enroll.redeem', invitation, capability }
    },
    async enroll(rights = ['observe', 'operate']) {
      const { gives } = await take({ do: 'operator', call: 'enroll', with: { rights }, gives: null })
      const { enrollment, digest, code } = gives as Record<'enrollment' | 'digest' | 'code', string>
      const grant_expires_at = now() + 86_400
      const kind = 'enroll.approve'
      return { kind, enrollment, request_digest: digest, code, rights, grant_expires_at }
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
