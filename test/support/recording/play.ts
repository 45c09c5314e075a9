import type { Operator } from '../../../src/bridge/operator.ts'
import { sha256Hex } from '../../../src/protocol/digest.ts'
import { artifactKind, sealEnvelope } from '../../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../../src/protocol/event.ts'
import type { JsonObject } from '../../../src/protocol/json-value.ts'
import type { QueueEdit } from '../../../src/protocol/operations/commands.ts'
import type { Right } from '../../../src/protocol/rights.ts'
import type { Fixture, Name, Start, Step } from './fixture.ts'
import { type FreshHost, freshHost, keyOf } from './fresh-host.ts'
import { type Observed, observer, recordable } from './observed.ts'

/** A fresh host on which the steps of an exchange happen, one after the other. */
export interface Play {
  readonly host: FreshHost
  /** How many steps were taken. */
  steps(): number
  /** Takes a step, waits until all that follows from it is done, and says what the host did. */
  take(step: Step): Promise<{ observed: Observed; gives: unknown }>
  end(): Promise<void>
}

/**
 * Begins an exchange.
 * @param base an empty private directory
 */
export async function beginPlay(
  { name, start, records }: { name: string; start: Start; records: readonly string[] },
  base: string,
): Promise<Play> {
  const host = await freshHost(start, base)
  const observe = observer(
    host,
    records.map((word) => recordable[word] ?? word),
  )
  await observe.look(0, null)
  const events = new Map<string, NostrEvent>()
  let steps = 0

  const named = (id: string): NostrEvent => {
    const event = events.get(id)
    if (event === undefined) throw new Error(`no event ${id} was delivered before`)
    return event
  }
  const deliver = (step: Extract<Step, { do: 'deliver' }>): string | null => {
    const relay = step.relay ?? start.relays[0] ?? ''
    const send = (event: NostrEvent) => {
      events.set(event.id, event)
      for (let copy = 0; copy < (step.copies ?? 1); copy += 1) {
        host.relays.deliver(relay, event, step.connection)
      }
      return event.tags.find((tag) => tag[0] === 'h')?.[1] ?? null
    }
    if ('event' in step) return send(step.event)
    if ('again' in step) return send(named(step.again))
    if ('content_chars' in step) return send(longEvent(step.from, step.content_chars, step.at))
    throw new Error('many are delivered one by one')
  }
  const flood = async (step: Extract<Step, { do: 'deliver' }>): Promise<void> => {
    if (!('like' in step)) return
    for (let index = 1; index <= step.times; index += 1) {
      host.random.label(`${name}/${steps}/${index}`)
      const request = sha256Hex(`${name}/${steps}/${index}`)
      const event = sealedLike(step.from, withOwnIds(step.like, request), host)
      host.relays.deliver(step.relay ?? start.relays[0] ?? '', event)
      await host.idle()
    }
  }
  const perform = async (step: Step): Promise<{ mailbox: string | null; gives: unknown }> => {
    let mailbox: string | null = null
    let gives: unknown
    switch (step.do) {
      case 'operator':
        for (let time = 0; time < (step.times ?? 1); time += 1) {
          gives = await operate(host.operator, step.call, step.with)
        }
        break
      case 'deliver':
        if ('like' in step) await flood(step)
        mailbox = 'like' in step ? 'many' : deliver(step)
        break
      case 'advance':
        await host.advance(step.seconds)
        break
      case 'restart':
        await host.restart(step.stored.map(named))
        observe.restarted()
        break
      case 'relay':
        host.relays.say(step.connection ?? 1, ...step.says)
        break
      case 'closed':
        host.relays.close(step.connection, step.reason)
        break
      case 'store':
        events.set(step.event.id, step.event)
        host.relays.store([step.event])
        break
      case 'answers':
        host.relays.answer(step.says)
        break
      case 'hold':
        host.relays.hold()
        break
      case 'live':
        host.relays.goLive(step.connection, step.stored.map(named))
        break
      case 'cut':
        host.relays.cut(step.connection)
        break
      case 'turn':
        await host.turn(step.task, step.turn)
    }
    return { mailbox, gives }
  }
  return {
    host,
    steps: () => steps,
    async take(step) {
      steps += 1
      host.random.label(`${name}/${steps}`)
      const { mailbox, gives } = await perform(step)
      return { observed: await observe.look(steps, mailbox), gives }
    },
    end: host.end,
  }
}

/** Plays a whole exchange on a fresh host and gives it as it went this time. */
export async function playAgain(fixture: Fixture, base: string): Promise<Fixture> {
  const play = await beginPlay(fixture, base)
  const steps: Step[] = []
  const replies: Fixture['replies'][number][] = []
  try {
    for (const step of fixture.steps) {
      const at = Math.floor(play.host.clock.nowMs() / 1000)
      const { observed, gives } = await play.take(step)
      steps.push(asItWent({ ...step, at }, observed, gives))
      replies.push(...observed.replies)
    }
  } finally {
    await play.end()
  }
  return { ...fixture, steps, replies }
}

/** A step with what came of it. */
export function asItWent(step: Step, { earned, hears }: Observed, gives: unknown): Step {
  const heard = hears.length === 0 ? step : { ...step, hears }
  if (step.do === 'deliver') return { ...heard, earns: earned } as Step
  if (step.do === 'restart' && step.stored.length > 0) return { ...heard, earns: earned } as Step
  return step.do === 'operator' ? ({ ...heard, gives } as Step) : heard
}

function longEvent(from: Name, chars: number, created_at: number): NostrEvent {
  const tags = [
    ['p', keyOf('host').publicKey],
    ['h', sha256Hex(`${from}/${chars}`)],
    ['t', 'oa:artifact:v1'],
  ]
  return keyOf(from).signer.sign({ kind: artifactKind, created_at, tags, content: 'A'.repeat(chars) })
}

/** A request with an ID of its own, which is its command's too where it has one. */
function withOwnIds(like: JsonObject, request: string): JsonObject {
  const op = like['op'] as JsonObject
  if (op['kind'] !== 'task.command') return { ...like, request }
  const command = { ...(op['command'] as JsonObject), command: request }
  return { ...like, request, op: { ...op, command } }
}

function sealedLike(from: Name, body: JsonObject, host: FreshHost): NostrEvent {
  const key = keyOf(from)
  const recipient = keyOf('host').publicKey
  return sealEnvelope({
    signer: key.signer,
    recipient,
    mailbox: String(body['request']),
    body,
    conversationKey: key.with(recipient),
    issuedAt: Number(body['issued_at']),
    retainUntil: Number(body['expires_at']),
    random: host.random,
  })
}

/** What the local operator may be asked for in an exchange. */
async function operate(operator: Operator, call: string, given: JsonObject): Promise<unknown> {
  switch (call) {
    case 'invite': {
      const { rights, grant_expires_at, relay } = given
      return await operator.invite({
        rights: rights as Right[],
        grant_expires_at: Number(grant_expires_at),
        relay: relay === undefined ? null : String(relay),
      })
    }
    case 'uninvite':
      await operator.uninvite(String(given['invitation']))
      return null
    case 'revoke':
      return await operator.revoke(String(given['device']))
    case 'enroll': {
      const { rights, relay } = given
      return await operator.requestEnrollment({
        rights: rights as Right[],
        relay: relay === undefined ? null : String(relay),
      })
    }
    case 'queue':
      return await operator.editQueue(String(given['task']), given['edit'] as QueueEdit)
    default:
      throw new Error(`an operator has no ${call}`)
  }
}
