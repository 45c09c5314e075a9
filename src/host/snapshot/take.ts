import { snapshotDigest } from './digest.ts'
import type { Snapshot } from './entry.ts'
import { createLedger } from './ledger.ts'
import { walkTree } from './walk.ts'

/** Steps of a walk between two pauses that let the rest of the process run. */
const stepsPerSlice = 256

/**
 * Reads a whole tree: no ignore rules, links recorded and never entered, every name as raw bytes.
 *
 * What cannot be read, changes while it is read, or goes past a limit is a fault, and the snapshot incomplete; a root
 * that is missing is one fault. Throws only the reason of an aborted `signal`.
 * @param root absolute path of a directory; made canonical first
 * @see spec/execution.md §6
 */
export async function takeSnapshot(root: string, options: { signal?: AbortSignal } = {}): Promise<Snapshot> {
  const ledger = createLedger()
  const walk = walkTree(root, ledger)
  try {
    let steps = 0
    for (let step = walk.next(); step.done !== true; step = walk.next()) {
      steps += 1
      if (steps % stepsPerSlice === 0) await breathe()
      options.signal?.throwIfAborted()
    }
  } finally {
    walk.return()
  }
  const { entries, faults } = ledger
  return {
    root: ledger.root ?? root,
    digest: snapshotDigest(entries, faults),
    entries,
    faults,
    complete: faults.length === 0,
  }
}

function breathe(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
