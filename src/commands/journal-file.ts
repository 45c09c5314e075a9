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

const head = Buffer.from(`{"schema":"${journalSchema}","entries":[`)
const comma = 1

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

/** The whole file, from the kept bytes of its entries. @param entriesBytes their lengths, summed */
export function assembleJournal(
  entries: readonly { readonly bytes: Buffer }[],
  entriesBytes: number,
  leases: readonly Lease[],
): Buffer {
  const tail = Buffer.from(`],"leases":${JSON.stringify(leases)}}`)
  const parts: Uint8Array[] = [head]
  for (const { bytes } of entries) parts.push(parts.length === 1 ? bytes.subarray(comma) : bytes)
  parts.push(tail)
  const before = entries.length === 0 ? 0 : entriesBytes - comma
  return Buffer.concat(parts, head.length + before + tail.length)
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
