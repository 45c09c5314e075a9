import type { Grant } from '../../../src/protocol/bodies/grant.ts'
import type { NostrEvent } from '../../../src/protocol/event.ts'
import type { JsonObject } from '../../../src/protocol/json-value.ts'

/** Who takes part in an exchange, by the scalar of the secret key. */
export const cast = {
  host: 11,
  owner: 12,
  phone: 13,
  tablet: 14,
  stranger: 15,
  watch: 16,
  laptop: 17,
} as const
export type Name = keyof typeof cast

/** How things stand before the first step. Times are Unix seconds. */
export interface Start {
  readonly at: number
  /** The relays that the host serves, the primary first. */
  readonly relays: readonly string[]
  readonly workspaces: readonly string[]
  /** What the host has granted before. */
  readonly grants: readonly Grant[]
  /** Epochs that were raised before, by device. */
  readonly epochs?: Readonly<Record<string, number>>
  /** How many more devices hold a living grant, whose names do not matter. */
  readonly others?: number
  /** How long one connection of the host to a relay lives; longer than the exchange unless it is said. */
  readonly connection_seconds?: number
}

/** What the local operator or the host's own side does. */
export interface OperatorCall {
  readonly call: string
  readonly with: JsonObject
  /** How often, where it is more than once; `gives` is then what the last call gave. */
  readonly times?: number
  /** What the operator was told. */
  readonly gives: unknown
}

/** What becomes of a task's turn: it begins, it ends, or it ends and its processes may still be there. */
export type Turn = 'begins' | 'ends' | 'is lost'

/** Something that happens to the host. `at` is its time, Unix seconds. */
export type Step = { readonly at: number } & (
  | ({ readonly do: 'operator' } & OperatorCall)
  | ({
      readonly do: 'deliver'
      readonly from: Name
      /** What makes the event earn what it earns. */
      readonly why?: string
      /** `OUTCOME`, `refused CODE`, `again` (the same signed reply once more), or `nothing REASON`; all, of many. */
      readonly earns: string
      /** The relay that delivers it, if not the primary one. */
      readonly relay?: string
      /** The connection that it is delivered on, if not the newest. */
      readonly connection?: number
      /** How often it is delivered at once, where it is more than once. */
      readonly copies?: number
    } & Delivered)
  | { readonly do: 'advance'; readonly seconds: number }
  /** The service stops and starts again; the relay has these events of before, and they earn what they earn. */
  | {
      readonly do: 'restart'
      readonly stored: readonly string[]
      readonly why?: string
      readonly earns?: string
    }
  | { readonly do: 'relay'; readonly connection?: number; readonly says: readonly unknown[] }
  /** The relay ends the host's subscription. */
  | { readonly do: 'closed'; readonly connection: number; readonly reason: string }
  /**
   * What the relay says of the events that the host publishes from now on: `true` (it took them), nothing, or once a
   * refusal.
   */
  | { readonly do: 'answers'; readonly says: boolean | string }
  /** From now on new subscriptions wait for their stored events until they go live. */
  | { readonly do: 'hold' }
  /** An event reaches the relay, not the host: it is stored there. */
  | { readonly do: 'store'; readonly event: NostrEvent; readonly opened: JsonObject }
  | { readonly do: 'live'; readonly connection: number; readonly stored: readonly string[] }
  | { readonly do: 'cut'; readonly connection: number }
  /** A turn of a task begins or ends at the host. */
  | { readonly do: 'turn'; readonly task: string; readonly turn: Turn }
) & {
    /** What the host sent to its relays meanwhile, beside events. */
    readonly hears?: readonly { readonly connection: number; readonly frame: readonly unknown[] }[]
  }

/** An event that a relay delivers: a new one, an earlier one, or many of one pattern. */
export type Delivered =
  /** `opened` is its body, or null where nobody can open it. */
  | { readonly event: NostrEvent; readonly opened: JsonObject | null }
  /** The id of an event that was delivered before. */
  | { readonly again: string }
  /** So many requests like this, each with an ID (and command ID) of its own, signed by whoever plays the exchange. */
  | { readonly like: JsonObject; readonly times: number }
  /** An event whose content is so many characters, signed by whoever plays the exchange. */
  | { readonly content_chars: number }

/** What the host published, opened by the device that it is for. */
export interface Reply {
  readonly at: number
  /** The step that it follows, from 1. */
  readonly step: number
  readonly to: Name
  /** The body; or the id of an event that was published before, when it is that one. */
  readonly opened: JsonObject | string
  /** The grant inside, where the answer carries one. */
  readonly grant?: JsonObject
  readonly event?: NostrEvent
}

/** A recorded exchange. */
export interface Fixture {
  readonly name: string
  readonly about: string
  /** Public keys; the secret of each is the small number `cast` names. */
  readonly keys: Readonly<Partial<Record<Name, string>>>
  readonly start: Start
  /** What is kept beside replies. */
  readonly records: readonly string[]
  readonly steps: readonly Step[]
  readonly replies: readonly Reply[]
}

const lineMax = 110

/** A fixture as it lies on disk. */
export function fixtureText(fixture: Fixture): string {
  return `${jsonText(fixture)}\n`
}

/** JSON for people: what fits a line stands on one. */
export function jsonText(value: unknown): string {
  return textOf(value, 0)
}

function textOf(value: unknown, indent: number): string {
  const flat = flatText(value)
  if (typeof value !== 'object' || value === null || indent + flat.length <= lineMax) return flat
  const inner = ' '.repeat(indent + 2)
  const end = `\n${' '.repeat(indent)}`
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => inner + textOf(item, indent + 2)).join(',\n')}${end}]`
  }
  const members = membersOf(value).map(
    ([name, member]) => `${inner}${JSON.stringify(name)}: ${textOf(member, indent + 2)}`,
  )
  return `{\n${members.join(',\n')}${end}}`
}

function flatText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(flatText).join(', ')}]`
  const members = membersOf(value).map(([name, member]) => `${JSON.stringify(name)}: ${flatText(member)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

function membersOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, member]) => member !== undefined)
}
