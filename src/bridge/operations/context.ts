import type { DeviceCommands } from '../../commands/device-commands.ts'
import type { HostCore } from '../../host/core.ts'
import { messageBytesMax } from '../../limits.ts'
import type { NostrEvent } from '../../protocol/event.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { isStoreText } from '../../protocol/text.ts'
import type { Clock } from '../../seams/clock.ts'
import type { Disk } from '../../seams/disk.ts'
import type { Random } from '../../seams/random.ts'
import type { Archive } from '../../store/archive.ts'
import type { CommandSender } from '../../store/tasks/identities.ts'
import type { TaskStore } from '../../store/tasks/store.ts'
import type { AccessBook } from '../access/book.ts'
import type { Principal } from '../access/principal.ts'
import type { Sealer } from '../seal.ts'
import type { ServeSettings } from '../serve-settings.ts'

/** What operations on who may do what work on. */
export interface AccessContext {
  readonly clock: Clock
  readonly random: Random
  readonly book: AccessBook
  /** Forgets what is remembered of a device beside the book: kept answers, conversation keys, what was to be sent. */
  forget(device: string): void
}

/** What operations work on that sign for somebody other than who asks. */
export interface GrantingContext extends AccessContext {
  readonly sealer: Sealer
  /** Hands an event to a relay while it is fresh (Unix seconds). */
  publish(relay: string, event: NostrEvent, freshUntil: number): void
  /** A device has a grant. */
  enrolled(device: string): void
}

/** What operations on tasks work on. */
export interface TaskContext {
  readonly disk: Disk
  readonly clock: Clock
  readonly tasks: TaskStore
  readonly archive: Archive
  readonly commands: DeviceCommands
  readonly core: Pick<HostCore, 'plan' | 'settle' | 'steeringOf' | 'notes'>
  settings(): ServeSettings
  /** Whether one more task may be created for this device now. */
  mayCreate(device: string): boolean
  /** Says that a task changed in a way that its file does not show. */
  changed(taskId: string): void
}

/** Who asks, and the ID that makes asking again the same thing. */
export interface Asking {
  readonly principal: Principal
  /** The public key that signed: the device's, or the owner's. */
  readonly signer: string
  /** The request's ID. */
  readonly request: string
  /** The relay that the request came over. */
  readonly relay: string
}

/**
 * Refuses `bounds` for a prompt that the wire lets through and the task store could never take, because of its
 * control characters: better said than `unavailable`.
 */
export function checkPrompt(prompt: string): void {
  if (isStoreText(prompt, messageBytesMax, 'multi')) return
  throw new Refusal('bounds', 'the prompt has control characters', { field: 'prompt' })
}

/** Whose share of the store a request draws on. */
export function sideOf({ principal }: Asking): CommandSender {
  return principal.kind === 'device' ? 'device' : 'owner'
}

/** The key that stands behind a principal: the owner's for the local operator, who acts for it. */
export function keyOf(principal: Principal, owner: string): string {
  return principal.kind === 'operator' ? owner : principal.key
}
