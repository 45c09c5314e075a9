import { artifactBytesMax, manifestBytesMax } from '../../limits.ts'
import { isRefusal, Refusal } from '../../protocol/refusal.ts'
import { parseStrictJson } from '../../protocol/strict-json.ts'
import type { Disk } from '../../seams/disk.ts'
import type { Task } from '../../store/tasks/task.ts'
import { blobFile, manifestFile, readContent } from './content.ts'
import { type Manifest, type ManifestEntry, manifestSchema } from './manifest.ts'

/** A kept file's content. */
export interface Artifact {
  readonly path: string
  /** `sha256:` and lowercase hex. */
  readonly digest: string
  readonly bytes: Uint8Array
}

/**
 * Reads the manifest of the current turn's run; null when its result names none, or there is no result yet.
 * Refuses `not_found` when the file is missing, `corrupt_store` when it is not the one that the result names.
 * @see spec/evidence.md §6
 */
export async function readManifest(disk: Disk, storeDir: string, task: Task): Promise<Manifest | null> {
  const { run } = task
  const result = run?.result ?? null
  if (run === undefined || result === null || result.artifact_file === null) return null
  const hex = /^sha256:([0-9a-f]{64})$/.exec(result.artifact_digest ?? '')?.[1]
  if (hex === undefined || result.artifact_file !== manifestFile(hex)) {
    throw new Refusal('corrupt_store', 'the result names no manifest by its digest')
  }
  const bytes = await readContent(disk, storeDir, manifestFile(hex), hex, manifestBytesMax)
  if (bytes === null) throw new Refusal('not_found', 'the manifest is missing')
  const manifest = parseManifest(bytes)
  if (
    manifest.source_snapshot !== run.admission.source_snapshot ||
    manifest.candidate_snapshot !== result.candidate_snapshot
  ) {
    throw new Refusal('corrupt_store', 'the manifest is of other snapshots than the run')
  }
  return manifest
}

/**
 * Reads what was kept of one path, which must be exactly a manifest entry's. Never opens the workspace.
 * Refuses `not_found` without manifest, entry, digest or blob; `corrupt_store` when the blob was altered.
 */
export async function readArtifact(
  disk: Disk,
  storeDir: string,
  task: Task,
  path: string,
): Promise<Artifact> {
  const manifest = await readManifest(disk, storeDir, task)
  const entry = manifest?.entries.find((candidate) => candidate.path === path)
  if (entry === undefined || entry.digest === null) {
    throw new Refusal('not_found', 'nothing was kept of that path')
  }
  const bytes = await readBlob(disk, storeDir, entry, entry.digest)
  if (bytes === null) throw new Refusal('not_found', 'the kept copy is missing')
  return { path, digest: entry.digest, bytes }
}

/** `PATH: reason` for each kept file whose bytes cannot be given now. */
export async function artifactFaults(disk: Disk, storeDir: string, manifest: Manifest): Promise<string[]> {
  const faults: string[] = []
  for (const entry of manifest.entries) {
    if (entry.digest === null) continue
    try {
      const bytes = await readBlob(disk, storeDir, entry, entry.digest)
      if (bytes === null) faults.push(`${entry.path}: missing`)
    } catch (error) {
      if (!isRefusal(error)) throw error
      faults.push(`${entry.path}: ${faultWord(error)}`)
    }
  }
  return faults
}

async function readBlob(
  disk: Disk,
  storeDir: string,
  entry: ManifestEntry,
  digest: string,
): Promise<Uint8Array | null> {
  const hex = digest.slice('sha256:'.length)
  const bytes = await readContent(disk, storeDir, blobFile(hex), hex, artifactBytesMax)
  if (bytes !== null && bytes.length !== entry.bytes) {
    throw new Refusal('corrupt_store', 'the kept copy has another size')
  }
  return bytes
}

function parseManifest(bytes: Uint8Array): Manifest {
  try {
    const { value, looseIntegers } = parseStrictJson(bytes, { bytesMax: manifestBytesMax })
    const parsed = manifestSchema.safeParse(value)
    if (parsed.success && looseIntegers.length === 0) return parsed.data
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
  throw new Refusal('corrupt_store', 'the manifest does not read')
}

function faultWord(error: Refusal): string {
  if (error.code === 'corrupt_store') return 'altered'
  return error.code === 'unsafe_path' ? 'unsafe' : 'unreadable'
}
