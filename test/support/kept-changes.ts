import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, manifestSchema } from '../../src/host/artifacts/manifest.ts'
import { retainArtifacts } from '../../src/host/artifacts/retain.ts'
import type { Snapshot } from '../../src/host/snapshot/entry.ts'
import { takeSnapshot } from '../../src/host/snapshot/take.ts'
import { realDisk } from '../../src/store/disk.ts'
import type { Task } from '../../src/store/tasks/task.ts'
import { tempDir } from './temp-dir.ts'

/** A workspace, and a store that keeps what happens to it. */
export interface Keeping {
  readonly store: string
  readonly workspace: string
  /** Path of something in the workspace. */
  at(name: string): string
  /** Keeps what `change` does; `meanwhile` runs between the snapshot after it and the keeping. */
  kept(change: () => void, meanwhile?: () => void): Promise<Kept>
}

export interface Kept {
  readonly manifest: Manifest
  /** As far as reading it back looks at one. */
  readonly task: Task
  readonly before: Snapshot
  readonly after: Snapshot
}

export async function keeping(): Promise<Keeping> {
  const root = await tempDir()
  const [store, workspace] = [join(root, 'store'), join(root, 'workspace')]
  for (const path of [store, workspace]) mkdirSync(path, { mode: 0o700 })
  return {
    store,
    workspace,
    at: (name) => join(workspace, name),
    async kept(change, meanwhile = () => {}) {
      const before = await takeSnapshot(workspace)
      change()
      const after = await takeSnapshot(workspace)
      meanwhile()
      const reference = await retainArtifacts(realDisk, store, before, after)
      const bytes = readFileSync(join(store, reference.artifact_file), 'utf8')
      const run = {
        admission: { source_snapshot: before.digest },
        result: { ...reference, candidate_snapshot: after.complete ? after.digest : null },
      }
      const manifest = manifestSchema.parse(JSON.parse(bytes))
      return { manifest, task: { run } as unknown as Task, before, after }
    },
  }
}
