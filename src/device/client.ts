import type { WireCode } from '../protocol/refusal.ts'
import type { Right } from '../protocol/rights.ts'
import type { Clock } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import type { Random } from '../seams/random.ts'
import type { DialRelay } from '../seams/relay-socket.ts'

export interface DeviceOptions {
  readonly disk: Disk
  readonly clock: Clock
  readonly random: Random
  readonly dial: DialRelay
  /** Absolute path of the state directory; made 0700 when missing. */
  readonly dir: string
  readonly policy: 'production' | 'loopback_test'
  /** How long one send may take before it is shown as unknown. */
  readonly waitMs?: number
}

/** What this device is and may do. Times are Unix seconds. */
export interface Whoami {
  readonly device: string
  readonly paired: {
    readonly host: string
    readonly owner: string
    readonly relay: string
    readonly rights: readonly Right[]
    readonly epoch: number
    readonly grant: string
    readonly issued_at: number
    readonly expires_at: number
  } | null
}

/** How one durable send stands. A timeout is never a refusal. */
export type SendState =
  | { readonly state: 'accepted' }
  | { readonly state: 'refused'; readonly code: WireCode; readonly missing: Right | null }
  /** Still in the outbox and sent again at the next flush; `why` is for people. */
  | { readonly state: 'unknown'; readonly why: string }

/** A durable send as shown to a person. */
export type Sent = {
  /** The command ID, or the request ID of a create. */
  readonly id: string
  readonly kind: string
  readonly task: string
  readonly queued_at: number
} & SendState
