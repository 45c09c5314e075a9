import * as z from 'zod'
import { journalBytesMax, journalEntriesMax } from '../limits.ts'
import { Refusal } from '../protocol/refusal.ts'
import { parseStrictJson } from '../protocol/strict-json.ts'
import { type Entry, entryKey, entrySchema, journalSchema, type Lease, leaseSchema } from './journal-entry.ts'

/** What `commands.json` says. */
export interface JournalFile {
  readonly entries: readonly Entry[]
  readonly leases: readonly Lease[]
}

const fileSchema = z.strictObject({
  schema: z.literal(journalSchema),
  entries: z.array(entrySchema).max(journalEntriesMax),
  leases: z.array(leaseSchema),
})

const head = Buffer.from(`{"schema":"${journalSchema}","entries":`)
const openingBracket = '['.charCodeAt(0)

/**
 * Reads the bytes of `commands.json`. Refuses `unavailable` for anything malformed, of another schema, over its
 * bounds, or with a command or a lease in it twice: such a journal is never overwritten.
 * @see spec/commands.md §1
 */
export function parseJournal(bytes: Uint8Array): JournalFile {
  const { value, looseIntegers } = strict(bytes)
  if (looseIntegers.length > 0) throw unreadable('has a number that is not written as an integer')
  const parsed = fileSchema.safeParse(value)
  if (!parsed.success) throw unreadable(`is not as it must be at ${where(parsed.error)}`)
  const { entries, leases } = parsed.data
  const keys = new Set(entries.map((entry) => entryKey(entry.sender.device, entry.request.command)))
  if (keys.size < entries.length) throw unreadable('has a command twice')
  if (new Set(leases.map((lease) => lease.task)).size < leases.length)
    throw unreadable('has two leases of a task')
  return { entries, leases }
}

/** The bytes of one entry, with the comma that parts it from the one before. Kept until the entry changes. */
export function encodeEntry(entry: Entry): Buffer {
  const { sender, request, received_at, state, edited, promoted } = entry
  const fields = {
    sender: { device: sender.device, grant: sender.grant, epoch: sender.epoch },
    request: {
      command: request.command,
      task: request.task,
      kind: request.kind,
      based_on: request.based_on,
      text: request.text,
      emulate: request.emulate,
      issued_at: request.issued_at,
    },
    received_at,
    state,
    ...(edited === undefined ? {} : { edited }),
    ...(promoted === undefined ? {} : { promoted }),
  }
  return Buffer.from(`,${JSON.stringify(fields)}`)
}

/** Puts the file together from the kept bytes of its entries. What it gives is good until it is called again. */
export type AssembleJournal = (rows: readonly Part[], leases: readonly Lease[]) => Buffer

interface Part {
  readonly bytes: Buffer
}

/**
 * Puts files together in one place, each time from the first entry on that is not what it was: what changes is near the
 * end. What a full journal drops is at the beginning: then the file begins later in its place, and nothing moves. A new
 * place for each would cost more than all the rest, once for its pages and again when it is collected.
 */
export function createAssembler(): AssembleJournal {
  let place: Buffer = Buffer.alloc(head.length)
  const parts: Buffer[] = []
  /** Where each part begins in the place, and where the one after them would. */
  const starts = [head.length]

  const startOf = (index: number): number => starts[index] ?? end()
  const end = (): number => starts.at(-1) ?? head.length

  const takeOutDropped = (rows: readonly Part[]): void => {
    const from = firstDifference(rows, parts)
    const next = rows[from]?.bytes
    const kept = next === undefined ? -1 : parts.indexOf(next, from)
    if (kept <= from) return
    const gap = from === 0 ? 0 : startOf(kept) - startOf(from)
    if (gap > 0) place.copyWithin(startOf(from), startOf(kept), end())
    parts.splice(from, kept - from)
    starts.splice(from, kept - from)
    for (let index = from; gap > 0 && index < starts.length; index += 1) starts[index] = startOf(index) - gap
  }

  /** Makes room for `tailBytes` after the last part, when the place has no more: the file begins at its front again. */
  const makeRoom = (from: number, tailBytes: number): void => {
    if (end() + tailBytes <= place.length) return
    const shift = startOf(0) - head.length
    const bytes = 2 * (end() + tailBytes - shift)
    const next = bytes <= place.length ? place : Buffer.allocUnsafe(bytes)
    place.copy(next, head.length, startOf(0), startOf(from))
    for (let index = 0; index < starts.length; index += 1) starts[index] = startOf(index) - shift
    place = next
  }

  return (rows, leases) => {
    takeOutDropped(rows)
    const from = firstDifference(rows, parts)
    parts.length = from
    starts.length = from + 1
    for (const { bytes } of rows.slice(from)) {
      parts.push(bytes)
      starts.push(end() + bytes.length)
    }
    const tail = Buffer.from(`${rows.length === 0 ? '[' : ''}],"leases":${JSON.stringify(leases)}}`)
    makeRoom(from, tail.length)
    for (let index = from; index < parts.length; index += 1) parts[index]?.copy(place, startOf(index))
    tail.copy(place, end())
    const begin = startOf(0) - head.length
    head.copy(place, begin)
    // The first entry has nothing before it that a comma would part it from.
    place[startOf(0)] = openingBracket
    return place.subarray(begin, end() + tail.length)
  }
}

function firstDifference(rows: readonly Part[], parts: readonly Buffer[]): number {
  const bound = Math.min(rows.length, parts.length)
  for (let index = 0; index < bound; index += 1) if (rows[index]?.bytes !== parts[index]) return index
  return bound
}

function strict(bytes: Uint8Array) {
  try {
    return parseStrictJson(bytes, { bytesMax: journalBytesMax })
  } catch (cause) {
    throw unreadable('is not strict JSON within its bound', cause)
  }
}

/** The path of the first fault; never a value, since a value may be a message. */
function where(error: z.ZodError): string {
  return error.issues[0]?.path.join('.') || 'its top'
}

function unreadable(why: string, cause?: unknown): Refusal {
  return new Refusal('unavailable', `the command journal ${why}`, cause === undefined ? {} : { cause })
}
