import { type OpenHome, readHome } from '../bridge/home.ts'
import { homeParts } from '../bridge/inspect-home.ts'
import { readPolicy } from '../host/autostart/policy.ts'
import { requireLinkedWorktree } from '../host/autostart/writable-workspace.ts'
import { systemBackend } from '../host/boundary/backend.ts'
import { commonDir, headRevision } from '../host/helper/git.ts'
import { isDiskLow, measureDisk } from '../host/probe/disk-space.ts'
import { containsPath, isThere } from '../host/probe/paths.ts'
import type { Workspace } from '../host/workspace.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { quoted } from '../protocol/shell-word.ts'
import { realDisk } from '../store/disk.ts'
import type { Check } from './doctor-check.ts'
import { relayChecks } from './doctor-relays.ts'
import type { Door } from './door.ts'
import { type Answer, colours } from './output.ts'
import { printable } from './printable.ts'

/** Looks at everything that a host needs, and at the relays of its settings. It changes nothing. */
export async function examine(door: Door): Promise<Answer> {
  const home = await look('home', 'drawbridge init --create-owner', async () => {
    const open = await readHome(realDisk, door.home)
    const { settings } = open
    const relays = settings.relays.length === 1 ? 'one relay' : `${settings.relays.length} relays`
    return { open, settings, detail: `${door.home}, private, ${relays}` }
  })
  const checks = [
    node(),
    (await look('boundary', 'install bubblewrap, and allow unprivileged user namespaces', boundary)).check,
    (await look('git', 'install git', git)).check,
    home.check,
    ...(home.found === null ? [] : await parts(door, home.found.open)),
    ...(home.found === null ? [] : await relayChecks(door, home.found.open)),
    ...(await workspaces(door.home, home.found?.settings.workspaces ?? [])),
    ...(home.found === null ? [] : [(await look('disk', 'free some space', () => disk(door.home))).check]),
    user(door),
  ]
  const ok = checks.every((check) => check.ok)
  return { json: { ok, checks }, text: checks.map(line).join(''), ...(ok ? {} : { exit: 1 }) }
}

async function look<T extends { detail: string }>(
  name: string,
  fix: string,
  see: () => Promise<T>,
): Promise<{ check: Check; found: T | null }> {
  try {
    const found = await see()
    return { check: { name, ok: true, detail: found.detail, fix: null }, found }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { check: { name, ok: false, detail: error.message, fix: error.hint ?? fix }, found: null }
  }
}

function node(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const ok = major > 20 || (major === 20 && minor >= 19)
  return { name: 'node', ok, detail: process.versions.node, fix: ok ? null : 'install Node 20.19 or later' }
}

async function boundary(): Promise<{ detail: string }> {
  const { program, prlimit } = await systemBackend()
  return { detail: `${program} works here, limits by ${prlimit}` }
}

async function git(): Promise<{ detail: string }> {
  try {
    return { detail: `found, ${await commonDir('/')}` }
  } catch (error) {
    // Whether `/` is a repository does not matter; a git that is missing does.
    if (isRefusal(error) && error.hint === undefined) return { detail: 'found' }
    throw error
  }
}

/** What the service reads of a home, in its order: a file that is lost or damaged is found here first. */
async function parts(door: Door, open: OpenHome): Promise<Check[]> {
  const checks: Check[] = []
  for (const part of homeParts({ disk: realDisk, clock: door.clock }, open)) {
    const { check, found } = await look(part.name, part.fix, async () => {
      const seen = await part.look()
      return typeof seen === 'string' ? { detail: seen, tight: [] } : seen
    })
    checks.push(
      found === null || found.tight.length === 0 ? check : { ...check, fix: found.tight.join('. ') },
    )
  }
  return checks
}

/** The policy in force says which of them must be writable. */
async function workspaces(home: string, all: readonly Workspace[]): Promise<Check[]> {
  const policy = all.length === 0 ? null : await readPolicy(realDisk, home)
  const written = policy?.enabled && policy.engine.write_workspace ? policy.workspaces : []
  return Promise.all(all.map((each) => workspace(each, written.includes(each.label))))
}

/** A workspace can be used when it is a repository with a commit; a writing turn needs its git directory elsewhere. */
async function workspace({ label, path }: Workspace, mayWrite: boolean): Promise<Check> {
  const name = `workspace ${label}`
  const seen = await look(name, 'make it a git worktree with a commit', async () => {
    if (!isThere(path)) {
      const hint = `put it back, or: drawbridge workspace remove ${quoted(label)}`
      throw new Refusal('io', `the folder ${path} is gone`, { hint })
    }
    await headRevision(path)
    if (mayWrite) await requireLinkedWorktree({ label, path })
    const inside = containsPath(path, await commonDir(path))
    return { detail: inside ? `${path}, read-only turns only: its .git directory is inside` : path }
  })
  return seen.check
}

async function disk(home: string): Promise<{ detail: string }> {
  const space = await measureDisk(home)
  if (space === null) return { detail: 'the system does not say' }
  const detail = `${Math.floor(space.free / 1_048_576)} MiB free`
  if (isDiskLow(space)) throw new Refusal('io', `${detail}: turns would be ended`)
  return { detail }
}

function user(door: Door): Check {
  const root = process.getuid?.() === 0
  const ok = !root || door.allowRoot
  const detail = root ? 'root: a turn is root for every file it can see' : 'an ordinary user'
  return {
    name: 'user',
    ok,
    detail,
    fix: ok ? null : 'use an ordinary user, or --allow-root on a throw-away machine',
  }
}

function line({ name, ok, detail, fix }: Check): string {
  const mark = ok ? colours.green('ok  ') : colours.red('FAIL')
  return `${mark} ${printable(name).padEnd(20)} ${printable(detail)}\n${fix === null ? '' : `     ${printable(fix)}\n`}`
}
