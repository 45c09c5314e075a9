import type { RelayLimits } from '../protocol/relay-limits.ts'
import type { AuthStanding } from '../protocol/relay-session.ts'

/** What `status` shows of one relay. Times are Unix seconds. */
export interface RelayState {
  readonly url: string
  readonly state: 'connecting' | 'live' | 'waiting' | 'closed'
  readonly since: number
  readonly last_event: number | null
  readonly last_error: string | null
  readonly reconnects: number
  readonly unpublished: number
  /** How far authentication got on the connection in service. */
  readonly auth: AuthStanding
  /** How long a signed event may be to be published there, in bytes. */
  readonly event_bytes_max: number
  /** What its information document says that it takes (NIP-11); null where it says nothing. */
  readonly limits: RelayLimits
  /** What a person should know of it, or null. */
  readonly note: string | null
}
