import { join } from 'node:path'
import * as z from 'zod'
import { contactBytesMax, nudgeEverySeconds, spokenWindowsMax, storeWaitMs } from '../limits.ts'
import type { Grant } from '../protocol/bodies/grant.ts'
import { hexId, unixSeconds } from '../protocol/keys.ts'
import { isRefusal } from '../protocol/refusal.ts'
import { parseStrictJson } from '../protocol/strict-json.ts'
import type { Disk, DiskLock } from '../seams/disk.ts'
import { mayBeRenewed, withSpoken } from './renewal-search.ts'

/** What a device remembers of its dealings with its host, beside grant and outbox. Times are Unix seconds. */
const contactSchema = z.strictObject({
  schema: z.literal('drawbridge.device-contact.v1'),
  /** The grant that `spoken` is about. */
  grant: hexId.nullable(),
  /** When this device spoke since that grant could be renewed. */
  spoken: z.array(unixSeconds).max(spokenWindowsMax),
  nudged_at: unixSeconds.nullable(),
})
type ContactFile = z.infer<typeof contactSchema>

const nothing: ContactFile = {
  schema: 'drawbridge.device-contact.v1',
  grant: null,
  spoken: [],
  nudged_at: null,
}

/** Notes that outlive the process. */
export interface Contact {
  /** When this device spoke since `grant` could be renewed, as far as this process knows. */
  spokenUnder(grant: Grant): readonly number[]
  /**
   * Notes, durably where no other process holds the notes, that this device is about to speak under `grant`. Free while
   * it cannot be renewed yet.
   */
  speak(grant: Grant, now: number): Promise<void>
  /** Whether the host may be nudged now, which then counts as done: once in 30 s over all processes. */
  mayNudge(now: number): Promise<boolean>
}

/**
 * Opens the notes of a state directory. They only ever help to find what a relay holds: a file that cannot be read is
 * begun anew.
 */
export async function openContact(disk: Disk, dir: string): Promise<Contact> {
  const path = join(dir, 'contact.json')
  let known = await readContact(disk, path)

  const change = async (edit: (file: ContactFile) => ContactFile | null): Promise<boolean> => {
    const lock = await lockNotes(disk, dir)
    if (lock === null) return false
    try {
      known = await readContact(disk, path)
      const changed = edit(known)
      if (changed === null) return false
      await disk.replace(path, Buffer.from(`${JSON.stringify(changed)}\n`))
      known = changed
      return true
    } finally {
      await lock.release()
    }
  }

  return {
    spokenUnder: ({ grant }) => (known.grant === grant ? known.spoken : []),
    async speak(grant, now) {
      if (!mayBeRenewed(grant, now)) return
      if (known.grant === grant.grant && withSpoken(known.spoken, now) === null) return
      await change((file) => {
        const before = file.grant === grant.grant ? file.spoken : []
        const spoken = withSpoken(before, now)
        return spoken === null ? null : { ...file, grant: grant.grant, spoken }
      })
    },
    mayNudge: (now) =>
      change((file) => {
        const ago = file.nudged_at === null ? nudgeEverySeconds : Math.abs(now - file.nudged_at)
        return ago < nudgeEverySeconds ? null : { ...file, nudged_at: now }
      }),
  }
}

/** Null while another process holds the notes: what they are for does not depend on them. */
async function lockNotes(disk: Disk, dir: string): Promise<DiskLock | null> {
  try {
    return await disk.lock(join(dir, 'contact.lock'), storeWaitMs, { create: true })
  } catch (error) {
    if (isRefusal(error, 'store_busy')) return null
    throw error
  }
}

async function readContact(disk: Disk, path: string): Promise<ContactFile> {
  const bytes = await disk.read(path, contactBytesMax)
  if (bytes === null) return nothing
  try {
    const { value } = parseStrictJson(bytes, { bytesMax: contactBytesMax })
    return contactSchema.parse(value)
  } catch {
    return nothing
  }
}
