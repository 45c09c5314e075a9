import type { BigIntStats } from 'node:fs'
import { closeSync, constants, fstatSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { linkTargetBytesMax } from '../../limits.ts'
import {
  bytesOf,
  childPath,
  isSame,
  joinPath,
  type OpenDirectory,
  openChild,
  openChildDirectory,
  openDirectory,
} from './descriptor.ts'
import type { EntryKind, SnapshotEntry } from './entry.ts'
import { hashFile, readChunkBytes } from './hash-file.ts'
import type { Ledger } from './ledger.ts'
import { type Name, readNames } from './names.ts'

/** Ancestors whose descriptors stay open; older ones are opened again on the way back up. */
const openAncestorsMax = 64
const modeMask = 0o7777n
const formatMask = BigInt(constants.S_IFMT)

interface Frame {
  directory: OpenDirectory | null
  readonly path: string
  readonly absolute: string
  readonly id: { readonly dev: bigint; readonly ino: bigint }
  readonly names: readonly Name[]
  next: number
}

/**
 * Walks the tree at `root` into `ledger`, depth first, names in byte order: exactly the order of path components.
 * A step is small, the caller decides when to go on; returning the generator early closes its descriptors.
 */
export function* walkTree(root: string, ledger: Ledger): Generator<void, void> {
  const stack: Frame[] = []
  const buffer = Buffer.allocUnsafeSlow(readChunkBytes)
  try {
    enter(stack, openRoot(root, ledger))
    for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
      const found = frame.names[frame.next]
      frame.next += 1
      if (found === undefined) {
        if (!leave(stack, ledger)) return
        continue
      }
      if (!ledger.admit()) return
      const path = joinPath(frame.path, found.name)
      try {
        if (!(yield* visit(stack, frame, found, path, ledger, buffer))) return
      } catch (error) {
        ledger.fault(path, reasonOf(error))
      }
      yield
    }
  } finally {
    for (const frame of stack) if (frame.directory !== null) closeSync(frame.directory.fd)
  }
}

function openRoot(root: string, ledger: Ledger): Frame | null {
  ledger.admit()
  try {
    const canonical = realpathSync(root, { encoding: 'buffer' })
    ledger.root = canonical.toString()
    return openFrame(openDirectory(canonical.toString('latin1')), '', ledger)
  } catch (error) {
    ledger.fault('', reasonOf(error))
    return null
  }
}

/** Records a directory that was just opened, and reads its names: never more than may still be admitted, and one. */
function openFrame(directory: OpenDirectory, path: string, ledger: Ledger): Frame {
  try {
    const stat = fstatSync(directory.fd, { bigint: true })
    ledger.entries.push(entryOf(path, 'directory', stat))
    const names = readNames(directory, ledger.left() + 1)
    return { directory, path, absolute: directory.path, id: { dev: stat.dev, ino: stat.ino }, names, next: 0 }
  } catch (error) {
    closeSync(directory.fd)
    throw error
  }
}

function enter(stack: Frame[], frame: Frame | null): void {
  if (frame === null) return
  stack.push(frame)
  const far = stack.at(-1 - openAncestorsMax)
  if (far === undefined || far.directory === null) return
  closeSync(far.directory.fd)
  far.directory = null
}

/**
 * Leaves the directory on top and makes sure that the one below is open: through the child's own parent link, and
 * only if that is still the same directory. False ends the walk.
 */
function leave(stack: Frame[], ledger: Ledger): boolean {
  const left = stack.pop()
  const parent = stack.at(-1)
  if (left === undefined || left.directory === null) return false
  try {
    if (parent === undefined || parent.directory !== null) return true
    const fd = openChild(left.directory, '..')
    parent.directory = { fd, path: parent.absolute }
    if (isSame(fd, parent.id)) return true
    ledger.fault(parent.path, 'was moved while it was read')
  } catch (error) {
    ledger.fault(left.path, reasonOf(error))
  } finally {
    closeSync(left.directory.fd)
  }
  return false
}

/** Reads one entry. False ends the walk: a limit was reached. */
function* visit(
  stack: Frame[],
  frame: Frame,
  found: Name,
  path: string,
  ledger: Ledger,
  buffer: Buffer,
): Generator<void, boolean> {
  const { directory } = frame
  if (directory === null) return false
  const kind = found.kind ?? kindOf(lstatSync(childPath(directory, found.name), { bigint: true }))
  if (kind === 'directory') {
    enter(stack, openFrame(openChildDirectory(directory, found.name), path, ledger))
    return true
  }
  if (kind === 'file') return yield* readFile(directory, found.name, path, ledger, buffer)
  ledger.entries.push(readSpecial(directory, found.name, path, kind))
  return true
}

function* readFile(
  directory: OpenDirectory,
  name: string,
  path: string,
  ledger: Ledger,
  buffer: Buffer,
): Generator<void, boolean> {
  const fd = openChild(directory, name)
  try {
    const before = fstatSync(fd, { bigint: true })
    if (kindOf(before) !== 'file') throw new Error(changedKind)
    if (!ledger.admitBytes(Number(before.size))) return false
    const hashed = yield* hashFile(fd, before, buffer)
    if (hashed === null) throw new Error('changed while it was read')
    const { stat, sha256 } = hashed
    const content = { mtimeNs: stat.mtimeNs, length: Number(stat.size), sha256 }
    ledger.entries.push({ ...entryOf(path, 'file', stat), ...content })
    return true
  } finally {
    closeSync(fd)
  }
}

/** A link with its target, or a FIFO, socket or device; never opened. */
function readSpecial(directory: OpenDirectory, name: string, path: string, kind: EntryKind): SnapshotEntry {
  const at = childPath(directory, name)
  const stat = lstatSync(at, { bigint: true })
  if (kindOf(stat) !== kind) throw new Error(changedKind)
  const entry = entryOf(path, kind, stat)
  if (kind !== 'symlink') return entry
  const target = readlinkSync(at, { encoding: 'buffer' })
  if (target.length > linkTargetBytesMax) throw new Error(`link target over ${linkTargetBytesMax} bytes`)
  return { ...entry, target }
}

const changedKind = 'changed its kind while it was read'

function entryOf(path: string, kind: EntryKind, stat: BigIntStats): SnapshotEntry {
  const mode = Number(stat.mode & modeMask)
  return {
    path: bytesOf(path),
    kind,
    mode,
    dev: stat.dev,
    ino: stat.ino,
    mtimeNs: 0n,
    length: 0,
    sha256: null,
    target: null,
  }
}

function kindOf(stat: BigIntStats): EntryKind {
  return kinds.get(Number(stat.mode & formatMask)) ?? 'other'
}

const kinds = new Map<number, EntryKind>([
  [constants.S_IFDIR, 'directory'],
  [constants.S_IFREG, 'file'],
  [constants.S_IFLNK, 'symlink'],
  [constants.S_IFIFO, 'fifo'],
  [constants.S_IFSOCK, 'socket'],
  [constants.S_IFCHR, 'char device'],
  [constants.S_IFBLK, 'block device'],
])

/** A failed system call's own code, never its path: names in a fault come from the walk alone. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code === 'string') return `cannot be read (${code})`
  return error instanceof Error ? error.message : 'cannot be read'
}
