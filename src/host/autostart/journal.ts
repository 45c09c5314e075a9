import { autostartEntriesKept, autostartJournalBytesMax, autostartJournalSoftBytes } from '../../limits.ts'
import type { Clock } from '../../seams/clock.ts'
import type { Disk, FileIdentity } from '../../seams/disk.ts'
import { type AutostartEntry, type NewAutostartEntry, readEntry, stamped } from './entry.ts'
import { type AutostartState, foldJournal } from './fold.ts'

/** The journal of what was started without being asked, and why what was not was not. */
export interface AutostartJournal {
  entries(): Promise<readonly AutostartEntry[]>
  /** What waits and what runs. Folded again only when the file changed. */
  state(): Promise<AutostartState>
  /** Appends one entry, durably. */
  append(entry: NewAutostartEntry): Promise<void>
}

/** Where the journal of a home is. */
function journalPath(home: string): string {
  return `${home}/host/autostart.jsonl`
}

/**
 * Opens the auto-start journal of a home. Lines that do not read are skipped. Past 4 MiB its oldest entries are dropped,
 * except those of turns that still wait or run.
 * @see spec/execution.md §13
 */
export function openAutostartJournal(disk: Disk, clock: Clock, home: string): AutostartJournal {
  const path = journalPath(home)
  let seen: {
    identity: FileIdentity | null
    entries: readonly AutostartEntry[]
    state: AutostartState
  } | null = null
  const read = async () => {
    const identity = await disk.identity(path)
    if (seen !== null && sameFile(seen.identity, identity)) return seen
    const bytes = await disk.read(path, autostartJournalBytesMax)
    const entries = bytes === null ? [] : readEntries(bytes)
    seen = { identity, entries, state: foldJournal(entries) }
    return seen
  }
  return {
    entries: async () => (await read()).entries,
    state: async () => (await read()).state,
    async append(entry) {
      await disk.makeDirectory(`${home}/host`)
      const size = await appendLine(disk, path, JSON.stringify(stamped(entry, clock.nowMs())))
      if (size > autostartJournalSoftBytes) await disk.replace(path, shortened((await read()).entries))
    },
  }
}

/** Appends one line; gives the size that the file then has. */
async function appendLine(disk: Disk, path: string, text: string): Promise<number> {
  const file = await disk.openAppend(path)
  try {
    // A crash can leave half a line; an entry is never glued to it.
    const torn = await endsTorn(disk, path, await file.size())
    await file.append(encoder.encode(torn ? `\n${text}\n` : `${text}\n`))
    return await file.size()
  } finally {
    await file.close()
  }
}

/** The newest entries, and every entry of a turn that still waits or runs. */
function shortened(entries: readonly AutostartEntry[]): Uint8Array {
  const { waiting, started } = foldJournal(entries)
  const open = new Set([...waiting, ...started].map(({ task, start }) => `${task}:${start}`))
  const newest = entries.length - autostartEntriesKept
  const kept = entries.filter(
    ({ task, turn }, index) => index >= newest || (task !== undefined && open.has(`${task}:${turn ?? 1}`)),
  )
  return encoder.encode(kept.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
}

async function endsTorn(disk: Disk, path: string, size: number): Promise<boolean> {
  if (size === 0) return false
  const bytes = await disk.read(path, autostartJournalBytesMax)
  return bytes !== null && bytes.at(-1) !== 0x0a
}

function readEntries(bytes: Uint8Array): AutostartEntry[] {
  return decoder
    .decode(bytes)
    .split('\n')
    .map(readEntry)
    .filter((entry) => entry !== null)
}

function sameFile(before: FileIdentity | null, now: FileIdentity | null): boolean {
  if (before === null || now === null) return before === now
  return (
    before.ino === now.ino &&
    before.dev === now.dev &&
    before.size === now.size &&
    before.mtimeNs === now.mtimeNs &&
    before.ctimeNs === now.ctimeNs
  )
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
