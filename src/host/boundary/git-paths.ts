import { readFile, realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Snapshot, SnapshotEntry } from '../snapshot/entry.ts'
import { takeSnapshot } from '../snapshot/take.ts'
import { canonicalPath, isWithin } from './paths.ts'
import { boundaryRefusal } from './refusal.ts'

const gitName = Buffer.from('.git')
const slashByte = 0x2f
const gitFileBytesMax = 65_536

/**
 * Everything inside a checkout that the person's next git command would obey: each `.git` at any depth, what a `.git`
 * file points to, and what links inside a `.git` lead to (hooks that live elsewhere). A writing command may read them
 * and not change them. Refuses `io` when one cannot be protected: a `.git` that is itself a link, a link to something
 * that is not there yet, a name that is not plain UTF-8.
 */
export async function findGitPaths(checkout: string, known?: Snapshot): Promise<string[]> {
  const tree = known ?? (await takeSnapshot(checkout))
  if (!tree.complete || tree.root !== checkout) {
    throw boundaryRefusal('resolve', `the checkout cannot be read whole: ${tree.faults[0] ?? 'another root'}`)
  }
  const found: string[] = []
  for (const entry of outermost(tree.entries)) {
    const path = await entryPath(checkout, entry)
    if (entry.kind === 'symlink') throw boundaryRefusal('unsafe', `a link cannot be protected: ${path}`)
    if (entry.kind === 'directory' || entry.kind === 'file') found.push(path)
  }
  const links = tree.entries.filter((entry) => entry.kind === 'symlink' && hasGitComponent(entry.path))
  const targets = [
    ...(await Promise.all(
      tree.entries.filter(isGitFile).map((entry) => gitFileTarget(join(checkout, entry.path.toString()))),
    )),
    ...links.map((entry) => linkTarget(checkout, entry)),
  ]
  for (const target of targets) {
    if (target === null) continue
    const path = await existing(target, checkout, found)
    if (path !== null && !found.some((other) => isWithin(path, other))) found.push(path)
  }
  return found
}

/** Entries named `.git` that lie in no other one. */
function outermost(entries: readonly SnapshotEntry[]): SnapshotEntry[] {
  return entries.filter((entry) => {
    if (!endsWithGit(entry.path)) return false
    return !hasGitComponent(entry.path.subarray(0, Math.max(0, entry.path.length - gitName.length - 1)))
  })
}

function isGitFile(entry: SnapshotEntry): boolean {
  return entry.kind === 'file' && entry.length <= gitFileBytesMax && endsWithGit(entry.path)
}

function endsWithGit(path: Buffer): boolean {
  const start = path.length - gitName.length
  return start >= 0 && path.subarray(start).equals(gitName) && (start === 0 || path[start - 1] === slashByte)
}

function hasGitComponent(path: Buffer): boolean {
  for (let at = path.indexOf(gitName); at >= 0; at = path.indexOf(gitName, at + 1)) {
    const after = at + gitName.length
    const begins = at === 0 || path[at - 1] === slashByte
    if (begins && (after === path.length || path[after] === slashByte)) return true
  }
  return false
}

async function entryPath(checkout: string, entry: SnapshotEntry): Promise<string> {
  const text = entry.path.toString('utf8')
  if (Buffer.from(text).equals(entry.path)) {
    const path = join(checkout, text)
    return entry.kind === 'symlink' ? path : await canonicalPath(path)
  }
  throw boundaryRefusal('unsafe', `a path that is not UTF-8 cannot be protected: ${JSON.stringify(text)}`)
}

/** Where a `.git` file says that the repository is. */
async function gitFileTarget(path: string): Promise<string | null> {
  const match = /^gitdir: (.+?)\r?\n?$/.exec(await readFile(path, 'utf8'))
  return match?.[1] === undefined ? null : resolve(dirname(path), match[1])
}

function linkTarget(checkout: string, entry: SnapshotEntry): string {
  return resolve(dirname(join(checkout, entry.path.toString('utf8'))), entry.target?.toString('utf8') ?? '')
}

/** The canonical target if it lies inside the checkout; null when it is elsewhere, or missing where nothing can make it. */
async function existing(target: string, checkout: string, found: readonly string[]): Promise<string | null> {
  try {
    const path = await realpath(target)
    return isWithin(path, checkout) ? path : null
  } catch {
    if (!isWithin(target, checkout) || found.some((other) => isWithin(target, other))) return null
    throw boundaryRefusal('unsafe', `git would follow a link to something that is not there yet: ${target}`)
  }
}
