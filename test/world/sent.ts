import type { CommandRequest, EntryState } from '../../src/commands/journal-entry.ts'
import { sha256Hex } from '../../src/protocol/digest.ts'
import type { QueueEdit } from '../../src/protocol/operations/commands.ts'
import type { EditAction } from './steps.ts'

/** What a device was answered: yes, or the code of a refusal. */
export type Answer = 'ok' | string

/** A change of a message's text as the host took it up. Times are places in the world's own count of happenings. */
export interface TextEdit {
  readonly text: string
  readonly begun: number
  /** When its answer was there, or its host died; null while it is under way. */
  settled: number | null
  acknowledged: boolean
}

/** A command that a device minted, and all that anybody was ever told of it. */
export interface Sent {
  readonly device: string
  readonly request: CommandRequest
  /** What the journal said, once it had it durable. */
  readonly told: EntryState[]
  readonly edits: TextEdit[]
  /** Somebody asked to remove it. */
  removalAsked: boolean
  /** Its removal was acknowledged. */
  removed: boolean
  /** Somebody asked to send it now. */
  promoted: boolean
  /** It was refused without being recorded, whoever sends it. */
  turnedAway: boolean
  /** What the device knows: null while it has to ask again. */
  answer: Answer | null
}

/** A queue edit that a device asks for; the same ID is the same edit, however often it arrives. */
export interface AskedEdit {
  readonly id: number
  readonly device: string
  readonly task: string
  readonly action: EditAction
  readonly edit: QueueEdit
  /** The message it is about. */
  readonly of: Sent | null
}

/** What is on its way between devices and host. */
export type Message =
  | { readonly to: 'host'; readonly sent: Sent }
  | { readonly to: 'host'; readonly asked: AskedEdit }
  | { readonly to: 'device'; readonly sent: Sent; readonly answer: Answer; readonly isFinal: boolean }

/** The ID that the task store knows a device's command by. @see spec/commands.md §4 */
export function storeId(sent: Sent): string {
  const known = storeIds.get(sent)
  if (known !== undefined) return known
  const id = `device-${sha256Hex(`${sent.device}:${sent.request.command}`).slice(0, 48)}`
  storeIds.set(sent, id)
  return id
}

const storeIds = new WeakMap<Sent, string>()

/** Every text that this command may ever have run with. */
export function textsOf({ request, edits }: Sent): string[] {
  return [...new Set([request.text, ...edits.map((edit) => edit.text)])]
}

/**
 * The texts that it may run with: not one that an acknowledged edit was to take the place of, when that edit began
 * after the other was over.
 */
export function possibleTexts({ request, edits }: Sent): string[] {
  const kept = edits.filter((edit) => edit.acknowledged)
  const isReplaced = (settled: number) => kept.some((edit) => edit.begun > settled)
  const possible = edits.filter(({ settled }) => settled === null || !isReplaced(settled))
  const texts = possible.map((edit) => edit.text)
  return kept.length === 0 ? [request.text, ...texts] : texts
}
