import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Snapshot, SnapshotEntry } from '../snapshot/entry.ts'
import { takeSnapshot } from '../snapshot/take.ts'
import { follow } from './git-links.ts'
import { heldDirectories } from './held-directories.ts'
import { canonicalPath, isWithin } from './paths.ts'
import { boundaryRefusal } from './refusal.ts'

const gitName = Buffer.from('.git')
const slashByte = 0x2f
const gitFileBytesMax = 65_536

/** What a writing command may not change, nor move. */
export interface GitPaths {
  readonly git: readonly string[]
  readonly held: readonly string[]
}

/**
 * Everything inside a checkout that the person's next git command would obey: each `.git` at any depth, what a `.git`
 * file points to, what links inside all of that lead to (hooks that live elsewhere), and other names of the same files.
 * A writing command may read `git` and not change it; it may not move the directories `held`. Refuses `io` when one
 * cannot be protected: a `.git` that is itself a link, a way there over a link that could be replaced, a link to
 * something that is not there yet, a name that is not plain UTF-8; and when it is too much.
 */
export async function findGitPaths(checkout: string, known?: Snapshot): Promise<GitPaths> {
  const tree = known ?? (await takeSnapshot(checkout))
  if (!tree.complete || tree.root !== checkout) {
    throw boundaryRefusal('resolve', `the checkout cannot be read whole: ${tree.faults[0] ?? 'another root'}`)
  }
  const found = new Set<string>()
  for (const entry of outermost(tree.entries)) {
    const path = await entryPath(checkout, entry)
    if (entry.kind === 'symlink') throw boundaryRefusal('unsafe', `a link cannot be protected: ${path}`)
    if (entry.kind === 'directory' || entry.kind === 'file') found.add(path)
  }
  const through = await addTargets(checkout, tree, found)
  for (const path of await otherNames(checkout, tree, found)) found.add(path)
  const git = [...found]
  return { git, held: heldDirectories(checkout, git, through) }
}

/** Adds, until there is no more, what the found paths lead to. The directories on the way there. */
async function addTargets(checkout: string, tree: Snapshot, found: Set<string>): Promise<string[]> {
  const links = tree.entries.filter((entry) => entry.kind === 'symlink')
  const readOnly = (path: string): boolean => isCovered(path, checkout, found)
  const through: string[] = []
  const followed = new Set<SnapshotEntry>()
  // A set that grows is walked to its end.
  for (const path of found) {
    const leads = await pointers(path)
    for (const link of links) {
      const place = join(checkout, link.path.toString('utf8'))
      if (followed.has(link) || !isWithin(place, path)) continue
      followed.add(link)
      await entryPath(checkout, link)
      leads.push({ from: dirname(place), target: basename(place) })
    }
    for (const { from, target } of leads) {
      const led = await follow(from, target, checkout, readOnly)
      through.push(...led.through)
      if (!isWithin(led.path, checkout) || readOnly(led.path)) continue
      if (!led.exists)
        throw boundaryRefusal(
          'unsafe',
          `git would follow a link to something that is not there yet: ${led.path}`,
        )
      found.add(await canonicalPath(led.path))
    }
  }
  return through
}

/** What the text of a `.git` file points to, and what a worktree's own directory says that it shares. */
async function pointers(path: string): Promise<{ from: string; target: string }[]> {
  if (basename(path) === '.git') {
    const gitdir = /^gitdir: (.+?)\r?\n?$/.exec(await smallText(path))?.[1]
    if (gitdir !== undefined) return [{ from: dirname(path), target: gitdir }]
  }
  const common = /^(.+?)\r?\n?$/.exec(await smallText(join(path, 'commondir')))?.[1]
  return common === undefined ? [] : [{ from: path, target: common }]
}

/** Empty for what is no file, or too large to be one of git's pointers. */
async function smallText(path: string): Promise<string> {
  const known = await stat(path).catch(() => null)
  return known?.isFile() === true && known.size <= gitFileBytesMax ? await readFile(path, 'utf8') : ''
}

/** Files that are not read-only by their place, and are the same file as one that is. */
async function otherNames(checkout: string, tree: Snapshot, found: ReadonlySet<string>): Promise<string[]> {
  const files = tree.entries.filter((entry) => entry.kind === 'file')
  const covered = files.map((entry) =>
    isCovered(join(checkout, entry.path.toString('utf8')), checkout, found),
  )
  const identity = (entry: SnapshotEntry): string => `${entry.dev} ${entry.ino}`
  const known = new Set(files.filter((_, at) => covered[at] === true).map(identity))
  const others = files.filter((entry, at) => covered[at] === false && known.has(identity(entry)))
  return await Promise.all(others.map((entry) => entryPath(checkout, entry)))
}

/** Whether a path, or a directory above it, is among the found ones. */
function isCovered(path: string, checkout: string, found: ReadonlySet<string>): boolean {
  for (let at = path; isWithin(at, checkout); at = dirname(at)) {
    if (found.has(at)) return true
    if (at === checkout) break
  }
  return false
}

/** Entries named `.git` that lie in no other one. */
function outermost(entries: readonly SnapshotEntry[]): SnapshotEntry[] {
  return entries.filter((entry) => {
    if (!endsWithGit(entry.path)) return false
    return !hasGitComponent(entry.path.subarray(0, Math.max(0, entry.path.length - gitName.length - 1)))
  })
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
