import { relayFrameBytesMax } from '../limits.ts'
import { artifactKind } from '../protocol/envelope.ts'
import { type EventTemplate, type NostrEvent, parseEvent } from '../protocol/event.ts'
import { jcs } from '../protocol/jcs.ts'
import { isPublicKey } from '../protocol/keys.ts'
import { payloadChars } from '../protocol/nip44.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { authKind } from '../protocol/relay-auth.ts'
import type { Sealer } from '../protocol/sealer.ts'
import { verifyEvent } from '../protocol/signer.ts'
import { parseStrictJsonText } from '../protocol/strict-json.ts'
import { utf8Bytes } from '../protocol/text.ts'
import type { Disk } from '../seams/disk.ts'
import type { BunkerUrl } from './remote-signer/bunker-url.ts'
import { type ChannelOptions, openSignerChannel, type SignerChannel } from './remote-signer/channel.ts'
import { signerField } from './remote-signer/messages.ts'
import { openSession, saveConnected } from './remote-signer/session-file.ts'

export interface RemoteSignerOptions extends Omit<ChannelOptions, 'client'> {
  readonly disk: Disk
  /** The state directory, where the client's key for this signer is kept. */
  readonly dir: string
}

/** A key that lives in a remote signer. Its calls refuse as `SignerChannel.call` does. */
export interface RemoteSigner extends Sealer {
  close(): void
}

/** What a client asks to be allowed once and for all when it connects. */
const permissions = [
  `sign_event:${artifactKind}`,
  `sign_event:${authKind}`,
  'nip44_encrypt',
  'nip44_decrypt',
].join()

/**
 * Connects to a remote signer (NIP-46), as a client that it knows already where it was let in before, and learns for
 * whom it signs. Refuses `timeout`, `denied` or `malformed`.
 */
export async function openRemoteSigner(options: RemoteSignerOptions): Promise<RemoteSigner> {
  const { disk, random, dir, bunker } = options
  const session = await openSession(disk, random, dir, bunker.remote)
  const channel = openSignerChannel({ ...options, client: session.client })
  try {
    const known = session.connected ? await askAgain(channel) : null
    const publicKey = known ?? (await connect(channel, bunker))
    if (known === null) await saveConnected(disk, dir, session)
    return remoteSigner(channel, publicKey)
  } catch (error) {
    channel.close()
    throw error
  }
}

function remoteSigner(channel: SignerChannel, publicKey: string): RemoteSigner {
  return {
    publicKey,
    async sign(template) {
      const text = await channel.call('sign_event', [JSON.stringify(onlyFour(template))])
      return checkSigned(text, template, publicKey)
    },
    async encrypt(peer, text) {
      const payload = await channel.call('nip44_encrypt', [peer, text])
      const isOne = /^[A-Za-z0-9+/]+={0,2}$/.test(payload) && payload.length === payloadChars(utf8Bytes(text))
      if (!isOne) throw wrong('nip44_encrypt')
      return payload
    },
    decrypt: async (peer, payload) =>
      new TextEncoder().encode(await channel.call('nip44_decrypt', [peer, payload])),
    close: () => channel.close(),
  }
}

/** For whom a signer that let this client in before signs; null when it does not know the client any more. */
async function askAgain(channel: SignerChannel): Promise<string | null> {
  try {
    return await ownerOf(channel)
  } catch (error) {
    if (isRefusal(error, 'denied')) return null
    throw error
  }
}

async function connect(channel: SignerChannel, { remote, secret }: BunkerUrl): Promise<string> {
  const said = await channel.call('connect', [remote, secret ?? '', permissions])
  if (said !== 'ack' && said !== secret) throw wrong('connect')
  return ownerOf(channel)
}

async function ownerOf(channel: SignerChannel): Promise<string> {
  const publicKey = await channel.call('get_public_key', [])
  if (!isPublicKey(publicKey)) throw wrong('get_public_key')
  return publicKey
}

/** The signed event, if it is exactly the template, by the key that the signer signs for. */
function checkSigned(text: string, template: EventTemplate, publicKey: string): NostrEvent {
  const event = readSigned(text)
  const isIt = event.pubkey === publicKey && jcs(onlyFour(event)) === jcs(onlyFour(template))
  if (!isIt || !verifyEvent(event)) {
    throw new Refusal('malformed', 'the remote signer signed something else than it was asked to', {
      field: signerField,
    })
  }
  return event
}

function readSigned(text: string): NostrEvent {
  try {
    return parseEvent(parseStrictJsonText(text, { bytesMax: relayFrameBytesMax }).value)
  } catch (error) {
    if (isRefusal(error)) throw wrong('sign_event')
    throw error
  }
}

function onlyFour({ kind, created_at, tags, content }: EventTemplate): EventTemplate {
  return { kind, created_at, tags, content }
}

function wrong(method: string): Refusal {
  return new Refusal('malformed', `the remote signer's answer to ${method} is not one`, {
    field: signerField,
  })
}
