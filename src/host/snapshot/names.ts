import { opendirSync } from 'node:fs'
import { childPath, type OpenDirectory } from './descriptor.ts'

const namesPerRead = 1_024

/** A name in a directory, as raw bytes. */
export interface Name {
  readonly name: Buffer
  /** What the directory says of it; null for everything else, and where it does not say. */
  readonly kind: 'directory' | 'file' | null
}

/** The names of an open directory in byte order, at most `namesMax` of them, whatever its size. */
export function readNames(directory: OpenDirectory, namesMax: number): Name[] {
  // Node's types know only text here; with this encoding it takes and gives raw bytes.
  const options = { encoding: 'buffer' as BufferEncoding, bufferSize: namesPerRead }
  const listing = opendirSync(childPath(directory, '.') as unknown as string, options)
  const names: Name[] = []
  try {
    while (names.length < namesMax) {
      const found = listing.readSync()
      if (found === null) break
      const kind = found.isDirectory() ? 'directory' : found.isFile() ? 'file' : null
      names.push({ name: found.name as unknown as Buffer, kind })
    }
  } finally {
    listing.closeSync()
  }
  return names.sort((a, b) => Buffer.compare(a.name, b.name))
}
