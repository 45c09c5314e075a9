import type { NostrEvent } from '../protocol/event.ts'
import type { CommandAction, QueueEdit } from '../protocol/operations/commands.ts'
import type { NewTask } from '../protocol/operations/tasks.ts'
import type { Operation } from '../protocol/operations.ts'
import type { Outcome, QueueView } from '../protocol/outcomes.ts'
import type { WireCode } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import type { Right } from '../protocol/rights.ts'
import type { TaskDetail, TaskList } from '../protocol/task-pages.ts'
import type { Clock } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import type { Random } from '../seams/random.ts'
import type { AskRelayInformation } from '../seams/relay-information.ts'
import type { DialRelay } from '../seams/relay-socket.ts'
import type { ApprovalTerms } from './accept.ts'
import type { Attention } from './attend.ts'
import type { PendingEnrollment } from './enrollment-copies.ts'
import type { Watcher } from './watch.ts'

export interface DeviceOptions {
  readonly disk: Disk
  readonly clock: Clock
  readonly random: Random
  readonly dial: DialRelay
  /** Asks a relay what it takes, before a long request is kept; without it a request is tried. */
  readonly information?: AskRelayInformation
  /** Absolute path of the state directory; made 0700 when missing. */
  readonly dir: string
  readonly policy: RelayPolicy
  /** How long one call may wait for the host before it ends as unknown. */
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
  /** Still in the outbox, and sent again at the next flush; `why` is for people. */
  | { readonly state: 'unknown'; readonly why: string }

/** A durable send as shown to a person. */
export type Sent = {
  /** The command ID; for a create the request ID. */
  readonly id: string
  /** `create`, or the command's action. */
  readonly kind: string
  readonly task: string
  /** Unix seconds. */
  readonly queued_at: number
} & SendState

/** A command as a person gives it. */
export interface NewCommand {
  readonly task: string
  readonly action: CommandAction
  readonly text: string
  readonly emulate?: boolean
  /** The task revision it answers to; when not given, the one that whoever gives it could have seen. */
  readonly based_on?: number
}

/**
 * A device with its state directory. Calls that only look throw `timeout` when the host does not answer and the
 * host's own code when it refuses; a durable send that was kept throws for neither, it says how it stands.
 */
export interface Device {
  /** Pairs with the host of an invitation. Refuses with the host's code, `expired`, `conflict`, `malformed` or `timeout`. */
  redeem(code: string): Promise<Whoami>
  whoami(): Promise<Whoami>
  /**
   * Takes the grant of an approved enrollment, the given one or the one that the host publishes within `waitMs`, and
   * saves it. Refuses as `acceptApproval` and `awaitApproval` do.
   */
  accept(wanted: ApprovalTerms, given: NostrEvent | null, waitMs: number): Promise<Whoami>
  /** The enrollments of its host that wait for this approver. */
  enrollments(): Promise<readonly PendingEnrollment[]>
  workspaces(): Promise<readonly string[]>
  tasks(workspace: string, page?: { cursor?: string; limit?: number }): Promise<TaskList>
  /** A task with a page of its steps; its workspace is looked for when not given. */
  read(task: string, page?: { workspace?: string; cursor?: string; limit?: number }): Promise<TaskDetail>
  /** A look at or a change of the held messages; not durable, it needs its answer now. */
  queue(task: string, edit: QueueEdit): Promise<QueueView>
  /**
   * Durable. `bounds`, before anything is kept, when the signed event could not travel. An aborted signal ends the
   * wait as `interrupted`, saying whether it was kept.
   */
  create(task: NewTask, signal?: AbortSignal): Promise<Sent>
  /**
   * Durable; its command ID is minted once. What acts on a turn is `timeout`, and not kept, when the host does not
   * say how the task stands and this device has never seen it.
   */
  command(command: NewCommand, signal?: AbortSignal): Promise<Sent>
  /** Any other operation, once, not durable. */
  ask(op: Operation): Promise<Outcome>
  /** Everything in the outbox, oldest first: undecided, and the latest decided. */
  outbox(): Promise<readonly Sent[]>
  /** Sends what is undecided again, in order, and says how everything stands. */
  flush(): Promise<readonly Sent[]>
  /** Stays connected and sends what waits whenever that may help, until `signal` aborts. */
  stay(attention: Attention, signal: AbortSignal): Promise<void>
  /** Tells how the tasks of the host stand, and each change as it comes, until `signal` aborts. */
  watch(watcher: Watcher, signal: AbortSignal): Promise<void>
  /** Ends its connection. */
  close(): void
}
