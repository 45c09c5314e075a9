import { relayEventBytesToPair } from '../limits.ts'
import type { HostRequest } from '../protocol/bodies/request.ts'
import { sealedBytes } from '../protocol/envelope.ts'
import { Refusal } from '../protocol/refusal.ts'
import { eventBytesUnder, parseRelayLimits } from '../protocol/relay-limits.ts'
import type { AskRelayInformation } from '../seams/relay-information.ts'

/**
 * Refuses `bounds`, with the numbers, for a request whose signed event is longer than its relay says that it takes. A
 * relay that takes grants takes short requests, so it is asked about long ones only; one that says nothing is tried.
 * @see spec/wire.md §8
 */
export async function checkRelayTakes(
  body: HostRequest,
  information: AskRelayInformation | undefined,
): Promise<void> {
  const bytes = sealedBytes(body, body.issued_at, body.expires_at)
  if (information === undefined || bytes <= relayEventBytesToPair) return
  const document = await information(body.relay)
  const limits = document.ok ? parseRelayLimits(document.text) : null
  const bytesMax = limits === null ? bytes : eventBytesUnder(limits)
  if (bytes > bytesMax)
    throw new Refusal(
      'bounds',
      `the signed request of ${bytes} bytes is over the ${bytesMax} that the relay takes`,
    )
}
