import type { Entry } from '../commands/journal-entry.ts'
import type { QueueEdit } from '../protocol/operations/commands.ts'
import type { DeviceEntry, QueueView } from '../protocol/outcomes.ts'
import type { Right } from '../protocol/rights.ts'
import type { Counted } from './counters.ts'
import type { MadeEnrollment } from './operations/enrollments.ts'
import type { MadeInvitation } from './operations/invitations.ts'
import type { RelayState } from './relay-state.ts'
import type { Workspace } from './serve-settings.ts'

/** What an invitation is to give. */
export interface InviteTerms {
  readonly rights: Right[]
  /** Unix seconds. */
  readonly grant_expires_at: number
  /** One of the host's relays; null for the first. */
  readonly relay: string | null
}

/** What an enrollment may give at most. */
export interface EnrollmentTerms {
  readonly rights: Right[]
  /** One of the host's relays; null for the first. */
  readonly relay: string | null
}

/** A page of the command journal, in its order. */
export interface CommandsPage {
  readonly entries: readonly Entry[]
  /** Where to read on, or null at the end. */
  readonly next: number | null
}

/** How the service stands. Times are Unix seconds. */
export interface ServiceStatus {
  readonly pid: number
  readonly host: string
  readonly owner: string
  readonly generation: number
  readonly started_at: number
  readonly ready: boolean
  readonly relays: readonly RelayState[]
  readonly workspaces: readonly string[]
  readonly devices: { readonly active: number; readonly known: number }
  /** How many tasks there are in each status of the store; null when the store does not read. */
  readonly tasks: Readonly<Record<string, number>> | null
  /** Null when the journal does not read. */
  readonly held_commands: number | null
  readonly undecided_commands: number | null
  readonly requests_in_flight: number
  readonly counters: Partial<Record<Counted, number>>
  /** What is at least 80 % full, in words, with what to do. */
  readonly tight: readonly string[]
  /** What could not be read, in words. */
  readonly faults: readonly string[]
}

/**
 * What the local operator may do with what the service owns. The service offers it over its control socket; without
 * a service the same functions run directly on the files, under the same locks.
 * @see spec/cli.md
 */
export interface Operator {
  invite(terms: InviteTerms): Promise<MadeInvitation>
  uninvite(invitation: string): Promise<void>
  /** Asks those who may for the approval of a device. Refuses `not_running` without a service: it must publish. */
  requestEnrollment(terms: EnrollmentTerms): Promise<MadeEnrollment>
  devices(): Promise<DeviceEntry[]>
  revoke(device: string): Promise<{ device: string; epoch: number; grants: string[] }>
  commands(query: { task: string | null; from: number }): Promise<CommandsPage>
  /** Edits a task's queue as the owner. */
  editQueue(task: string, edit: QueueEdit): Promise<QueueView>
  /** Says that a task changed under the service: a turn may have to start, a command to be decided. */
  taskChanged(task: string): Promise<void>
  /** Takes up changed settings. */
  reload(): Promise<{ relays: readonly string[]; workspaces: readonly Workspace[] }>
  status(): Promise<ServiceStatus>
}
