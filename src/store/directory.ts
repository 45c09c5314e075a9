import { type BigIntStats, lstatSync } from 'node:fs'
import { lstat, mkdir, readdir, realpath, rm, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Refusal } from '../protocol/refusal.ts'
import { syncDirectory } from './durable.ts'
import { errorCode, ioRefusal, unsafePath } from './failure.ts'
import { ownerFault } from './private-file.ts'

/**
 * Makes a private directory and whatever is missing above it, each 0700, syncing each parent. One that exists is
 * only checked, and its mode left alone.
 * @throws `unsafe_path` when it is not private, a link, or on a network file system
 * @see spec/store.md §6a, §7
 */
export async function makePrivateDirectory(path: string): Promise<void> {
  for (const missing of await missingAbove(path)) {
    await makeOne(missing)
    await checkPrivateDirectory(missing)
    await syncDirectory(dirname(missing))
  }
  await checkPrivateDirectory(path)
  await checkLocal(path)
}

/**
 * Syncs every directory above `path`, so that its name and theirs are durable whoever made them and was cut off. One
 * that we may not read we cannot have made, so it is passed over.
 * @see spec/store.md §9
 */
export async function syncAncestors(path: string): Promise<void> {
  let current = await realpath(path).catch((error: unknown) => {
    throw ioRefusal('look at', path, error)
  })
  while (dirname(current) !== current) {
    current = dirname(current)
    await syncDirectory(current).catch((error: unknown) => {
      if (!(error instanceof Refusal) || errorCode(error.cause) !== 'EACCES') throw error
    })
  }
}

/** Refuses `unsafe_path` unless `path` is a real directory of ours that others cannot enter. */
export async function checkPrivateDirectory(path: string): Promise<void> {
  const stats = statsOf(path)
  if (stats.isSymbolicLink()) throw unsafePath(path, 'is a symbolic link')
  if (!stats.isDirectory()) throw unsafePath(path, 'is not a directory')
  if ((stats.mode & 0o077n) !== 0n) throw unsafePath(path, 'is accessible to others')
  const fault = ownerFault(stats)
  if (fault !== null) throw unsafePath(path, fault)
}

function statsOf(path: string): BigIntStats {
  try {
    return lstatSync(path, { bigint: true })
  } catch (error) {
    throw ioRefusal('check', path, error)
  }
}

/** Removes a private directory with all that is in it, and syncs the one above; nothing when there is none. */
export async function removeTree(path: string): Promise<void> {
  if (!(await exists(lstat, path))) return
  await checkPrivateDirectory(path)
  try {
    await rm(path, { recursive: true })
  } catch (error) {
    throw ioRefusal('remove', path, error)
  }
  await syncDirectory(dirname(path))
}

/** The names in a directory in byte order; null when there is none. */
export async function listDirectory(path: string): Promise<string[] | null> {
  try {
    return inByteOrder(await readdir(path))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw ioRefusal('list', path, error)
  }
}

/** Code unit order is byte order except beside surrogates, so only such names pay for a comparison of bytes. */
function inByteOrder(names: string[]): string[] {
  if (!names.some((name) => /[\ud800-\udfff]/.test(name))) return names.sort()
  return names.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
}

/** The directories from the first missing one down to `path`; empty when something is at `path`. */
async function missingAbove(path: string): Promise<string[]> {
  const missing: string[] = []
  let current = path
  // A link at the end of the path is something that exists; links above it are the system's own business.
  while (!(current === path ? await exists(lstat, current) : await exists(stat, current))) {
    missing.unshift(current)
    current = dirname(current)
  }
  return missing
}

async function exists(look: (path: string) => Promise<unknown>, path: string): Promise<boolean> {
  try {
    await look(path)
    return true
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw ioRefusal('look at', path, error)
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw ioRefusal('make', path, error)
  }
}

/** File systems of Linux whose locks and renames another machine may not see. */
const networkFileSystems = new Map<number, string>([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
])

async function checkLocal(path: string): Promise<void> {
  const { type } = await statfs(path).catch((error: unknown) => {
    throw ioRefusal('check', path, error)
  })
  const network = networkFileSystems.get(type >>> 0)
  if (network !== undefined) throw unsafePath(path, `is on a network file system (${network})`)
}
