import { opendirSync } from 'node:fs'
import { childPath, type OpenDirectory } from './descriptor.ts'

const namesPerRead = 1_024

/** A name in a directory, as a byte text. */
export interface Name {
  readonly name: string
  /** What the directory says of it; null for everything else, and where it does not say. */
  readonly kind: 'directory' | 'file' | null
}

/** The names of an open directory in byte order, at most `namesMax` of them, whatever its size. */
export function readNames(directory: OpenDirectory, namesMax: number): Name[] {
  // Node's types know no bytes as the path here; it takes them.
  const path = childPath(directory, '.') as string
  const listing = opendirSync(path, { encoding: 'latin1', bufferSize: namesPerRead })
  const names: Name[] = []
  try {
    while (names.length < namesMax) {
      const found = listing.readSync()
      if (found === null) break
      const kind = found.isDirectory() ? 'directory' : found.isFile() ? 'file' : null
      names.push({ name: found.name, kind })
    }
  } finally {
    listing.closeSync()
  }
  return names.sort((a, b) => (a.name < b.name ? -1 : 1))
}
