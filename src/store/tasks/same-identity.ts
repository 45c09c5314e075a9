import type { FileIdentity } from '../../seams/disk.ts'

/** Whether two looks at a path saw the same file, unchanged between them. */
export function isSameIdentity(one: FileIdentity, other: FileIdentity): boolean {
  return (
    one.ino === other.ino &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs &&
    one.dev === other.dev
  )
}
