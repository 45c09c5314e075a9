import { taskFileBytesMax, verifiedBytesMax } from '../../limits.ts'
import type { Disk, FileIdentity } from '../../seams/disk.ts'
import type { Identities, Identity } from './identities.ts'
import type { StoreLayout } from './layout.ts'
import { replayTaskFile } from './replay.ts'
import { isSameIdentity } from './same-identity.ts'
import type { VerifiedTask } from './task-file.ts'

/**
 * Reads task files, replaying each one unless this process has verified that very file before. Nothing is believed
 * that was not verified once, by this process: from its own records, and against the log of ids.
 */
export interface VerifiedTasks {
  /** The task as its file says now; null when there is no file. Refuses as `replayTaskFile`, `requireOwned` and `Disk.read` do. */
  load(taskId: string): Promise<VerifiedTask | null>
  /** Tells that this process, holding the task's lock, has just written `verified`. */
  written(taskId: string, verified: VerifiedTask): Promise<void>
}

interface Kept {
  readonly identity: FileIdentity
  readonly verified: VerifiedTask
}

export function verifiedTasks(
  disk: Disk,
  layout: StoreLayout,
  identities: Pick<Identities, 'requireOwned'>,
): VerifiedTasks {
  const kept = new Map<string, Kept>()
  let keptBytes = 0

  const drop = (taskId: string) => {
    const old = kept.get(taskId)
    if (old === undefined) return
    kept.delete(taskId)
    keptBytes -= Number(old.identity.size)
  }
  const keep = (taskId: string, entry: Kept) => {
    drop(taskId)
    kept.set(taskId, entry)
    keptBytes += Number(entry.identity.size)
    for (const oldest of kept.keys()) {
      if (keptBytes <= verifiedBytesMax || oldest === taskId) break
      drop(oldest)
    }
  }

  return {
    async load(taskId) {
      const path = layout.taskFile(taskId)
      const identity = await disk.identity(path)
      const known = kept.get(taskId)
      if (identity !== null && known !== undefined && isSameIdentity(identity, known.identity)) {
        return known.verified
      }
      drop(taskId)
      const bytes = await disk.read(path, taskFileBytesMax)
      if (bytes === null) return null
      const verified = replayTaskFile(bytes, taskId)
      await identities.requireOwned(commandsOf(verified))
      const after = await disk.identity(path)
      // Replaced meanwhile: what was read is true of some moment, and that is all a reader is promised.
      if (identity !== null && after !== null && isSameIdentity(identity, after))
        keep(taskId, { identity, verified })
      return verified
    },
    async written(taskId, verified) {
      const identity = await disk.identity(layout.taskFile(taskId))
      if (identity === null) drop(taskId)
      else keep(taskId, { identity, verified })
    },
  }
}

/** What the log of ids must say of a task's commands. */
function commandsOf({ receipts, submit }: VerifiedTask): Identity[] {
  return [...receipts.values()].map(({ command_id, task_id }) => ({
    command_id,
    task_id,
    submit: command_id === submit.command_id,
  }))
}
