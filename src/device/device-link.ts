import type { NostrEvent } from '../protocol/event.ts'
import type { Filter } from '../protocol/relay-frames.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { nowSeconds } from '../seams/clock.ts'
import { silenceWords } from './clock-words.ts'
import { type Ears, hostMailboxes, hostMailFilters, mailboxOf } from './host-mail.ts'
import type { Identity } from './identity.ts'
import { type HostLink, type LinkOptions, openLink } from './link.ts'
import { newestSign, type Sign } from './presence.ts'
import { readReply } from './reply.ts'

export interface DeviceLinkOptions extends Pick<LinkOptions, 'host' | 'relay' | 'clock' | 'random' | 'dial'> {
  readonly identity: Identity
  readonly policy: RelayPolicy
  readonly ears?: Ears
  /** More to ask the relay for, of what the host sent this device. */
  readonly wanted?: () => readonly Filter[]
}

/**
 * A device's link to its host: it hears what the host says unasked too, and replies of the last minutes, one to a
 * request that an earlier connection sent.
 * @see spec/wire.md §8
 */
export function openDeviceLink(options: DeviceLinkOptions): HostLink {
  const { identity, host, policy, clock, ears, wanted } = options
  const device = identity.signer.publicKey
  const mailboxes = hostMailboxes(identity.keys.get(host))
  const now = () => nowSeconds(clock)
  let newest: Sign | null = null

  const hearPresence = (event: NostrEvent, stored: boolean): void => {
    const sign = newestSign(newest, event, { identity, host, policy, now: now(), live: !stored })
    if (sign === null || sign === newest) return
    newest = sign
    ears?.presence?.(sign)
  }
  const other = (event: NostrEvent, stored: boolean): boolean => {
    const mailbox = mailboxOf(event)
    if (mailbox === mailboxes.presence) hearPresence(event, stored)
    else if (mailbox === mailboxes.nudge) ears?.nudge?.(event)
    else if (mailbox === mailboxes.summary) ears?.summary?.(event)
    else {
      ears?.other?.(event)
      return false
    }
    return true
  }

  return openLink({
    ...options,
    signer: identity.signer,
    filters: () => hostMailFilters({ host, device, now: now() }, mailboxes, wanted?.() ?? []),
    read: (event, asked) => readReply(event, { identity, asked, now: now(), policy }),
    complain: ({ code, message }) => (code === 'stale' ? { why: message, final: false } : null),
    other,
    becameLive: () => ears?.live?.(),
    silence: () => silenceWords(newest, now()),
  })
}
