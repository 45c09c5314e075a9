import { replyHistorySeconds } from '../../limits.ts'
import type { Result } from '../../protocol/bodies/reply.ts'
import { artifactKind, type OpenedEnvelope } from '../../protocol/envelope.ts'
import type { NostrEvent } from '../../protocol/event.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { RelayPolicy } from '../../protocol/relay-url.ts'
import { openBy, type Sealer } from '../../protocol/sealer.ts'
import { nowSeconds } from '../../seams/clock.ts'
import { type HostLink, type LinkOptions, openLink } from '../link.ts'
import { signerField } from '../remote-signer/messages.ts'
import { checkReply } from '../reply.ts'
import type { SignedRequest } from '../request.ts'

export interface OwnerLinkOptions extends Pick<LinkOptions, 'host' | 'relay' | 'clock' | 'random' | 'dial'> {
  readonly sealer: Sealer
  readonly policy: RelayPolicy
}

/**
 * A link as a device has it, for the owner: everything is opened by a key that may live elsewhere and take its time,
 * so only what the host put into the mailbox of a request is opened at all.
 * @see spec/wire.md §8
 */
export function openOwnerLink(options: OwnerLinkOptions): HostLink {
  const { sealer, host, clock, policy } = options
  const self = sealer.publicKey
  const now = () => nowSeconds(clock)
  const read = async (event: NostrEvent, asked: SignedRequest): Promise<Result> => {
    const opened = await openBy(sealer, event)
    return checkReply(opened, { self, open: noGrant, asked, now: now(), policy })
  }
  return openLink({
    ...options,
    signer: sealer,
    filters() {
      const since = Math.max(0, now() - replyHistorySeconds)
      return [{ kinds: [artifactKind], authors: [host], '#p': [self], since }]
    },
    read,
    // A broken event is no answer, and the right one may still come; the signer has said its word.
    complain: ({ message, field }) => {
      return { why: `an answer came, and was not opened: ${message}`, final: field === signerField }
    },
    silence: () => 'no answer in time; a host says nothing to a clock that is more than 60 seconds off',
  })
}

/** No grant is ever for the owner. */
function noGrant(): OpenedEnvelope {
  throw new Refusal('malformed', 'a grant for the owner')
}
