import { resolve } from 'node:path'
import { readKeyFile } from '../bridge/host-keys.ts'
import { bodyBytesMax, presenceSeconds, relayFrameBytesMax, summarySecondsMax } from '../limits.ts'
import { parseBody } from '../protocol/body.ts'
import { openVerified, sealEnvelope } from '../protocol/envelope.ts'
import { parseEvent } from '../protocol/event.ts'
import { parseInvitation } from '../protocol/invitation.ts'
import { jcs } from '../protocol/jcs.ts'
import { isJsonObject, type JsonObject } from '../protocol/json-value.ts'
import { nudgeMailbox, presenceMailbox, summaryMailbox } from '../protocol/mailbox.ts'
import { conversationKey } from '../protocol/nip44.ts'
import { Refusal } from '../protocol/refusal.ts'
import { createSigner } from '../protocol/signer.ts'
import { parseStrictJson } from '../protocol/strict-json.ts'
import { systemRandom } from '../seams/random.ts'
import { realDisk } from '../store/disk.ts'
import type { Door } from './door.ts'
import { readInput, readSecret } from './input.ts'
import { type Answer, facts, localTime } from './output.ts'
import { jsonLine } from './printable.ts'

interface Loopback {
  loopbackTest?: true | undefined
}

type Checked = 'grant' | 'request' | 'reply' | 'enrollment' | 'nudge' | 'presence' | 'summary'

/** Says whether a body is valid: its canonical form, or the refusal with code and field. */
export async function check(file: string, options: Loopback & { schema: Checked }): Promise<Answer> {
  const bytes = await readInput(file, 'configuration', bodyBytesMax)
  const canonical = jcs(parseBody(options.schema, bytes, policyOf(options)))
  return { json: { ok: true, jcs: canonical }, text: `ok\n${canonical}\n` }
}

/**
 * Seals a body for a peer and signs the envelope; mailbox and times follow from the body.
 * Refuses the body's own codes, `forbidden` for a key that is the peer's, `bounds` for one too long to seal.
 */
export async function seal(
  file: string,
  options: Loopback & { keyFile: string; peer: string },
): Promise<Answer> {
  const secret = await readKey(options.keyFile)
  const body = readObject(await readInput(file, 'configuration', bodyBytesMax))
  parseBody(nameOf(body), body, policyOf(options))
  const key = conversationKey(secret, options.peer)
  const { mailbox, issuedAt, retainUntil } = placeOf(body, key)
  const event = sealEnvelope({
    signer: createSigner(secret),
    recipient: options.peer,
    mailbox,
    body,
    conversationKey: key,
    issuedAt,
    retainUntil,
    random: systemRandom,
  })
  return { json: event, text: jsonLine(event) }
}

/** Verifies an envelope, from either end, and shows what it holds. */
export async function open(
  file: string,
  options: Loopback & { keyFile: string; peer: string },
): Promise<Answer> {
  const secret = await readKey(options.keyFile)
  const event = parseEvent(readObject(await readInput(file, 'configuration', relayFrameBytesMax)))
  const self = createSigner(secret).publicKey
  const opened = openVerified(event, self, () => conversationKey(secret, options.peer))
  if (opened.author !== options.peer && opened.recipient !== options.peer) {
    throw new Refusal('malformed', 'the envelope is from and to others', { field: 'peer' })
  }
  parseBody(nameOf(opened.body), opened.body, policyOf(options))
  return { json: opened, text: jsonLine(opened) }
}

/** Takes an invitation apart. The capability is a secret and is left out. */
export async function invitation(door: Door, given: string, options: Loopback): Promise<Answer> {
  const code = await readSecret(given, 'coder-host:', () => door.err(secretWarning))
  const { capability: _secret, ...shown } = parseInvitation(code.split('\n')[0] ?? '', policyOf(options))
  const text = facts([
    ['host', shown.host],
    ['invitation', shown.invitation],
    ['relay', shown.relay],
    ['issued', localTime(shown.issued_at)],
    ['expires', localTime(shown.expires_at)],
  ])
  return { json: shown, text }
}

/** What is said when an invitation stands on the command line. */
export const secretWarning =
  'drawbridge: other users of this computer can see an invitation given as an argument; a file or - is safer\n'

function policyOf({ loopbackTest }: Loopback): 'production' | 'loopback_test' {
  return loopbackTest === true ? 'loopback_test' : 'production'
}

async function readKey(path: string): Promise<string> {
  const key = await readKeyFile(realDisk, resolve(path))
  if (key === null) throw new Refusal('configuration', `there is no key file at ${path}`)
  return key.secret
}

function readObject(bytes: Uint8Array): JsonObject {
  const { value } = parseStrictJson(bytes, { bytesMax: relayFrameBytesMax })
  if (!isJsonObject(value)) throw new Refusal('malformed', 'this is not a JSON object')
  return value
}

const names: Readonly<Record<string, Checked>> = {
  'openagents.host-grant.v1': 'grant',
  'openagents.host-request.v1': 'request',
  'openagents.host-reply.v1': 'reply',
  'openagents.host-enrollment-request.v1': 'enrollment',
  'openagents.host-nudge.v1': 'nudge',
  'openagents.host-presence.v1': 'presence',
  'openagents.activity-summary.v1': 'summary',
}

function nameOf(body: JsonObject): Checked {
  const name = typeof body['v'] === 'string' ? names[body['v']] : undefined
  if (name === undefined) throw new Refusal('unsupported', 'no body has this version', { field: 'v' })
  return name
}

/** Where a body waits and for how long it is of use. @see spec/wire.md §2 */
function placeOf(
  body: JsonObject,
  key: Uint8Array,
): { mailbox: string; issuedAt: number; retainUntil: number } {
  const from = (issued: string, kept: number | string, mailbox: unknown) => {
    const issuedAt = Number(body[issued])
    const retainUntil = typeof kept === 'number' ? issuedAt + kept : Number(body[kept])
    return { mailbox: String(mailbox), issuedAt, retainUntil }
  }
  switch (nameOf(body)) {
    case 'presence':
      return from('observed_at', presenceSeconds, presenceMailbox(key))
    case 'summary':
      return from('updated_at', summarySecondsMax, summaryMailbox(key))
    case 'nudge':
      return from('issued_at', 'expires_at', nudgeMailbox(key))
    case 'grant':
      return from('issued_at', 'expires_at', body['grant'])
    case 'enrollment':
      return from('issued_at', 'expires_at', body['enrollment'])
    default:
      return from('issued_at', 'expires_at', body['request'])
  }
}
