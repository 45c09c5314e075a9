import type { FileContent } from '../../src/seams/disk.ts'

/** All that a file is replaced by, in one. */
export function wholeOf(content: FileContent): Uint8Array {
  return content instanceof Uint8Array ? content : Buffer.concat([...content])
}
