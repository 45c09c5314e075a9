import { createHash } from 'node:crypto'
import type { MadeEvent } from '../event-cases.ts'
import { judgeBody, type RuledBody } from './body-rules.ts'
import { open } from './event-rules.ts'
import { id } from './rule.ts'

/** What a device knows when it hears something of its host. Times are Unix seconds. */
export interface DeviceWorld {
  readonly host: string
  readonly device: string
  readonly relay: string
  readonly now: number
  readonly conversationKey: Uint8Array
  /** The request that is waiting, and the event that carried it. */
  readonly asked: { readonly request: string; readonly event: string; readonly issued_at: number }
}

export type HostMail = Extract<RuledBody, 'reply' | 'grant' | 'presence' | 'summary' | 'nudge'>

/** A mailbox in which a host says something without being asked. @see spec/wire.md §2 */
export function quietMailbox(kind: 'nudges' | 'presence' | 'summaries', conversationKey: Uint8Array): string {
  return createHash('sha256')
    .update(`openagents.host-mailbox.${kind}.v1\0`)
    .update(conversationKey)
    .digest('hex')
}

/**
 * Whether a device may take an event of its host for what it claims to be. Written from the page alone. Of a reply that
 * brings an outcome it says only that all the rest is in order.
 * @see spec/wire.md §2, §5
 */
export function mayTake(
  kind: HostMail,
  { event, plaintext, genuine }: MadeEvent,
  world: DeviceWorld,
): boolean {
  const tag = (name: string) => event.tags.find((one) => one.length === 2 && one[0] === name)?.[1]
  if (!genuine || plaintext === null || event.kind !== 3_188 || event.tags.length !== 3) return false
  if (tag('t') !== 'oa:artifact:v1' || tag('p') !== world.device || event.pubkey !== world.host) return false
  const opened = open(plaintext, event.created_at)
  if (opened === null || opened.loose !== 'nowhere' || id(tag('h')) !== 'ok') return false
  const { body } = opened
  if (judgeBody(kind, body, 'production') !== 'ok' || body['host'] !== world.host) return false
  // Nobody keeps a summary for longer than it was to be kept.
  if (kind === 'summary' && opened.retain_until <= world.now) return false
  return isOurs[kind](body, tag('h') ?? '', world)
}

type Body = Readonly<Record<string, unknown>>

const isOurs: Readonly<Record<HostMail, (body: Body, mailbox: string, world: DeviceWorld) => boolean>> = {
  reply(body, mailbox, { asked, now }) {
    const issued = Number(body['issued_at'])
    const named = mailbox === asked.request && body['request'] === asked.request
    const about = body['request_event'] === asked.event && body['expires_at'] === asked.issued_at + 60
    return named && about && issued >= asked.issued_at - 60 && issued <= now + 60
  },
  grant(body, mailbox, { device, relay, now }) {
    const ours = body['grant'] === mailbox && body['device'] === device && body['relay'] === relay
    return ours && Number(body['issued_at']) <= now + 60 && Number(body['expires_at']) > now - 60
  },
  presence: (_, mailbox, { conversationKey }) => mailbox === quietMailbox('presence', conversationKey),
  summary: (_, mailbox, { conversationKey }) => mailbox === quietMailbox('summaries', conversationKey),
  nudge(body, mailbox, { device, now, conversationKey }) {
    const ours = mailbox === quietMailbox('nudges', conversationKey) && body['device'] === device
    return ours && Number(body['issued_at']) <= now + 60 && Number(body['expires_at']) > now
  },
}
