import { createHash } from 'node:crypto'
import type { SnapshotEntry } from './entry.ts'

const chunkBytes = 65_536
const endOfItem = Buffer.from([0xff])
const endOfPath = Buffer.from([0])

/**
 * The digest of a tree: paths, kinds, content, link targets, permission bits and fault texts; neither inodes nor times.
 * @returns raw lowercase hex
 * @see spec/execution.md §6
 */
export function snapshotDigest(entries: readonly SnapshotEntry[], faults: readonly string[]): string {
  const hash = createHash('sha256')
  let parts: Buffer[] = []
  let waiting = 0
  const add = (...added: Buffer[]): void => {
    for (const part of added) {
      parts.push(part)
      waiting += part.length
    }
    if (waiting < chunkBytes) return
    hash.update(Buffer.concat(parts))
    parts = []
    waiting = 0
  }
  for (const entry of entries) add(entry.path, endOfPath, ...entryBytes(entry), endOfItem)
  for (const fault of faults) add(Buffer.from(fault), endOfItem)
  hash.update(Buffer.concat(parts))
  return hash.digest('hex')
}

function entryBytes(entry: SnapshotEntry): Buffer[] {
  const kind = Buffer.from(entry.kind)
  const mode = Buffer.alloc(4)
  mode.writeUInt32LE(entry.mode)
  if (entry.kind === 'symlink') return [kind, entry.target ?? Buffer.alloc(0), mode]
  if (entry.kind !== 'file') return [kind, mode]
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(entry.length))
  return [kind, length, Buffer.from(entry.sha256 ?? '', 'hex'), mode]
}
