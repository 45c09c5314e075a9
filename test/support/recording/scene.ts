import type { Grant } from '../../../src/protocol/bodies/grant.ts'
import type { NostrEvent } from '../../../src/protocol/event.ts'
import type { JsonObject } from '../../../src/protocol/json-value.ts'
import type { Operation } from '../../../src/protocol/operations.ts'
import type { Right } from '../../../src/protocol/rights.ts'
import type { Name, Reply, Start, Step } from './fixture.ts'

/** An event on its way to the host, and what is in it. */
export interface Sealed {
  readonly from: Name
  readonly event: NostrEvent
  readonly opened: JsonObject | null
}

/** What may be said of a delivery. */
export interface Delivery {
  readonly why?: string
  readonly relay?: string
  readonly connection?: number
  readonly copies?: number
}

/** A delivery of a request that is signed for it, with what is changed in it. */
export type Asking = Delivery & { readonly changes?: object }

/** What an approval of an enrollment says, but for the device. */
export type Approval = Omit<Extract<Operation, { kind: 'enroll.approve' }>, 'device'>

/** An exchange that is being written: what it does happens on a real host at once. */
export interface Scene {
  readonly host: string
  readonly relay: string
  now(): number
  /** The grant that a name's requests carry. */
  grant(name: Name): Grant | undefined
  take(step: DistributiveOmit<Step, 'at'>): Promise<{ gives: unknown; replies: readonly Reply[] }>
  /** Signs a request under the name's grant, dated now; anything may be changed. */
  request(from: Name, op: unknown, changes?: object): Sealed
  /** Seals any body in a mailbox. */
  seal(from: Name, mailbox: string, body: JsonObject, until: number, issuedAt?: number): Sealed
  /** Seals bytes that need not be an envelope. */
  raw(from: Name, mailbox: string, plaintext: string): Sealed
  /** Signs the same request anew, its sealed text edited: bytes that no honest writer makes. */
  retyped(sealed: Sealed, edit: (text: string) => string): Sealed
  /** Delivers an event and holds the host to what it earns. Gives the outcome, when there is one. */
  deliver(sealed: Sealed, earns: string, delivery?: Delivery): Promise<JsonObject>
  /** Delivers one that was delivered before. */
  again(sealed: Sealed, earns: string, delivery?: Delivery): Promise<void>
  /** Has many requests like one delivered, each with an ID of its own. */
  flood(from: Name, op: unknown, many: { times: number; earns: string } & Asking): Promise<void>
  /** Signs a request and delivers it; gives all that the host then published. */
  hear(from: Name, op: unknown, earns: string): Promise<readonly Reply[]>
  /** Signs a request and delivers it. Gives the outcome, when there is one. */
  ask(from: Name, op: unknown, earns: string, delivery?: Asking): Promise<JsonObject>
  /** The operator invites; gives the operation that redeems it. */
  invite(rights?: Right[], changes?: object): Promise<Extract<Operation, { kind: 'enroll.redeem' }>>
  /** The host asks for a device to be let in; gives what an approval says, but for the device. */
  enroll(rights?: Right[]): Promise<Approval>
  /** Redeems as a name, whose requests carry the grant from then on. */
  redeem(from: Name, op: Operation, delivery?: Delivery): Promise<Grant>
  /** Creates a task and gives its ID. */
  create(from: Name, title?: string): Promise<string>
  /** A command of a task. */
  command(task: string, changes?: object): Operation
  advance(seconds: number): Promise<void>
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** An exchange to be recorded. */
export interface Scenario {
  readonly name: string
  readonly about: string
  readonly start: Start
  /** What is kept beside replies. */
  readonly records: readonly string[]
  play(scene: Scene): Promise<void>
}
