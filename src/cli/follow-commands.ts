import { type Entry, entryKey } from '../commands/journal-entry.ts'
import { readJournal } from '../commands/journal-store.ts'
import { pause } from '../seams/clock.ts'
import type { FileIdentity } from '../seams/disk.ts'
import { realDisk } from '../store/disk.ts'
import { isSameIdentity } from '../store/tasks/same-identity.ts'
import { storeDirectory } from './deps.ts'
import type { Door } from './door.ts'
import { commandCells } from './journal.ts'
import { knownTask } from './known-task.ts'
import { jsonLine, printable } from './printable.ts'

const followMs = 200

/**
 * Prints every entry of the journal, of one task if one is named, and again each time that something about it changed,
 * until a person ends it. It reads what is durable, so it may lag a second behind, and asks nothing of the service. With
 * `--json` each is one line. Refuses `unavailable` for a journal that does not read.
 */
export async function followCommands(door: Door, given: string | undefined): Promise<null> {
  const task = given === undefined ? null : await knownTask(door, undefined, given)
  const dir = await storeDirectory(door, undefined)
  let read: FileIdentity | null = null
  let told = new Map<string, string>()
  for (;;) {
    const identity = await realDisk.identity(`${dir}/commands.json`)
    if (identity !== null && (read === null || !isSameIdentity(read, identity))) {
      read = identity
      told = tell(door, await entriesOf(dir, task), told)
    }
    await pause(door.clock, followMs)
  }
}

async function entriesOf(dir: string, task: string | null): Promise<readonly Entry[]> {
  const entries = (await readJournal(realDisk, dir))?.entries ?? []
  return task === null ? entries : entries.filter(({ request }) => request.task === task)
}

/** Prints what is not as it was told; gives what is told now. */
function tell(
  door: Door,
  entries: readonly Entry[],
  before: ReadonlyMap<string, string>,
): Map<string, string> {
  const told = new Map<string, string>()
  for (const entry of entries) {
    const key = entryKey(entry.sender.device, entry.request.command)
    const now = jsonLine(entry)
    told.set(key, now)
    if (before.get(key) === now) continue
    door.out(door.json ? now : `${commandCells(entry).map(printable).join('  ').trimEnd()}\n`)
  }
  return told
}
