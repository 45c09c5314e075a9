import { snapshotBytesMax, snapshotEntriesMax, snapshotFaultsMax } from '../../limits.ts'
import { bytesOf } from './descriptor.ts'
import type { SnapshotEntry } from './entry.ts'

/** What a walk has found so far, and how much of its limits is used. */
export interface Ledger {
  /** Canonical path, once it is known. */
  root: string | null
  readonly entries: SnapshotEntry[]
  readonly faults: string[]
  /** Counts an entry that is about to be read; false when there may be no more. */
  admit(): boolean
  /** Counts file content; false when there may be no more. */
  admitBytes(bytes: number): boolean
  /** Entries that may still come. */
  left(): number
  /** Notes something unreadable, by its byte text. Beyond the limit it is not itemised. */
  fault(path: string, why: string): void
}

/** The limits, which tests lower. */
export interface SnapshotLimits {
  readonly entries: number
  readonly bytes: number
  readonly faults: number
}

const pageLimits: SnapshotLimits = {
  entries: snapshotEntriesMax,
  bytes: snapshotBytesMax,
  faults: snapshotFaultsMax,
}

/** An empty ledger. Failed entries count against the entries, and so does the root. */
export function createLedger(limits: SnapshotLimits = pageLimits): Ledger {
  let counted = 0
  let bytesCounted = 0
  const faults: string[] = []
  const note = (text: string): void => {
    if (faults.length < limits.faults) faults.push(text)
  }
  return {
    root: null,
    entries: [],
    faults,
    admit() {
      if (counted >= limits.entries) {
        note(`more than ${limits.entries} entries`)
        return false
      }
      counted += 1
      return true
    },
    admitBytes(bytes) {
      bytesCounted += bytes
      if (bytesCounted <= limits.bytes) return true
      note(`more than ${limits.bytes} bytes of file content`)
      return false
    },
    left: () => limits.entries - counted,
    fault(path, why) {
      note(`${path === '' ? '.' : bytesOf(path).toString()}: ${why}`)
    },
  }
}
