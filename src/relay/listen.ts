import type { Clock } from '../seams/clock.ts'
import type { Random } from '../seams/random.ts'

export interface RelayOptions {
  readonly clock: Clock
  readonly random: Random
  /** Address to listen on; port 0 picks a free one. */
  readonly host: string
  readonly port: number
  /** Host keys whose events are carried, asked at every event; null: anybody's. */
  readonly serves: () => readonly string[] | null
  /** URLs that this relay is reached by beside its own address (a proxy's), for checking AUTH. */
  readonly urls?: () => readonly string[]
}

export interface RelayStatistics {
  readonly connections: number
  readonly subscriptions: number
  readonly events: number
  readonly bytes: number
}

export interface Relay {
  /** `ws://HOST:PORT` as dialled by a neighbour. */
  readonly url: string
  readonly port: number
  statistics(): RelayStatistics
  close(): Promise<void>
}

export type StartRelay = (options: RelayOptions) => Promise<Relay>
