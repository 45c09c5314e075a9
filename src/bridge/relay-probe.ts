import { relayProbeMs } from '../limits.ts'
import { artifactKind } from '../protocol/envelope.ts'
import { connectRelay, type RelayConnection } from '../protocol/relay-connection.ts'
import { noLimits, parseRelayLimits, type RelayLimits } from '../protocol/relay-limits.ts'
import type { AuthStanding } from '../protocol/relay-session.ts'
import type { EventSigner } from '../protocol/signer.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import { type Random, randomId } from '../seams/random.ts'
import type { AskRelayInformation } from '../seams/relay-information.ts'
import type { DialRelay } from '../seams/relay-socket.ts'

/** What one look at a relay showed. */
export interface RelayProbe {
  readonly url: string
  /** Null when a subscription became live, else why none did. */
  readonly fault: string | null
  readonly auth: AuthStanding
  /** What its information document says; with the reason when there is none that reads. */
  readonly limits: RelayLimits
  readonly undocumented: string | null
  /** How far its clock is ahead of this machine's, seconds; null when it does not tell. */
  readonly aheadSeconds: number | null
}

/**
 * Looks at a relay once, as the host does: dials it, authenticates, subscribes, and asks for its document. Publishes
 * nothing. Takes at most `relayProbeMs`; never rejects.
 */
export async function probeRelay(look: {
  url: string
  signer: EventSigner
  clock: Clock
  random: Random
  dial: DialRelay
  information: AskRelayInformation
}): Promise<RelayProbe> {
  const [connected, documented] = await Promise.all([connect(look), ask(look)])
  return { url: look.url, ...connected, ...documented }
}

function connect(look: Parameters<typeof probeRelay>[0]): Promise<Pick<RelayProbe, 'fault' | 'auth'>> {
  const { url, signer, clock, random, dial } = look
  return new Promise((resolve) => {
    let connection: RelayConnection | null = null
    const end = (fault: string | null): void => {
      limit.cancel()
      // What the dial itself ends at once, ends before there is a connection.
      resolve({ fault, auth: connection?.auth() ?? 'none' })
      connection?.close()
    }
    const limit = clock.after(relayProbeMs, () => end('no live subscription in time'))
    const filters = () => [
      { kinds: [artifactKind], '#p': [signer.publicKey], since: nowSeconds(clock), limit: 1 },
    ]
    connection = connectRelay(
      { url, signer, clock, dial, subscription: randomId(random).slice(0, 16), filters },
      {
        event: () => {},
        live: () => end(null),
        published: () => {},
        ended: ({ message }) => end(message),
      },
    )
  })
}

async function ask(
  look: Parameters<typeof probeRelay>[0],
): Promise<Pick<RelayProbe, 'limits' | 'undocumented' | 'aheadSeconds'>> {
  const { url, clock, information } = look
  const askedMs = clock.nowMs()
  const document = await information(url)
  if (!document.ok) return { limits: noLimits, undocumented: document.reason, aheadSeconds: null }
  const limits = parseRelayLimits(document.text)
  // Its date is of some moment between question and answer, and in whole seconds.
  const middleMs = (askedMs + clock.nowMs()) / 2
  return {
    limits: limits ?? noLimits,
    undocumented: limits === null ? 'its document does not read' : null,
    aheadSeconds: document.dateMs === null ? null : Math.round((document.dateMs + 500 - middleMs) / 1000),
  }
}
