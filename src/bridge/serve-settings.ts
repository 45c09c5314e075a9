import { basename, dirname, join } from 'node:path'
import * as z from 'zod'
import { headRevision } from '../host/helper/git.ts'
import { relaysMax, settingsBytesMax, storeWaitMs, workspaceLabelBytesMax, workspacesMax } from '../limits.ts'
import { publicKey } from '../protocol/keys.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { checkRelayUrl, type RelayPolicy } from '../protocol/relay-url.ts'
import { quoted } from '../protocol/shell-word.ts'
import { parseStrictJson } from '../protocol/strict-json.ts'
import { isSingleLine } from '../protocol/text.ts'
import type { Disk } from '../seams/disk.ts'
import { realDirectory } from '../store/real-directory.ts'
import type { HomePaths } from './paths.ts'

const workspace = z.strictObject({
  label: z.string().refine((label) => isSingleLine(label, workspaceLabelBytesMax)),
  path: z.string().startsWith('/'),
})
/** A folder that devices may name, by its label only. */
export type Workspace = z.infer<typeof workspace>

const serveSettings = z.strictObject({
  schema: z.literal('drawbridge.serve.v1'),
  owner: publicKey,
  relays: z.array(z.string()).max(relaysMax),
  workspaces: z.array(workspace).max(workspacesMax),
  loopback_test: z.boolean(),
})
/** What the operator chose: whose authority is served, over which relays, for which folders. */
export type ServeSettings = z.infer<typeof serveSettings>

/** A rule that turns settings into other settings; it refuses by throwing. */
export type SettingsRule = (settings: ServeSettings) => ServeSettings

/**
 * Reads `host/serve.json`; null when the home was never initialised.
 *
 * Refuses `corrupt_store` for a file that does not read, `unsupported_schema` for another schema.
 */
export async function readServeSettings(disk: Disk, paths: HomePaths): Promise<ServeSettings | null> {
  const bytes = await disk.read(paths.settings, settingsBytesMax)
  if (bytes === null) return null
  try {
    const { value } = parseStrictJson(bytes, { bytesMax: settingsBytesMax })
    const parsed = serveSettings.safeParse(value)
    if (parsed.success) return parsed.data
    const schema = z.object({ schema: z.string() }).safeParse(value)
    if (schema.success && schema.data.schema !== 'drawbridge.serve.v1') {
      throw new Refusal('unsupported_schema', 'host/serve.json has another schema')
    }
  } catch (error) {
    if (!isRefusal(error) || error.code === 'unsupported_schema') throw error
  }
  throw new Refusal('corrupt_store', 'host/serve.json does not read as settings')
}

/** Reads the settings, refusing `configuration` (with what to type) when there are none. */
export async function requireServeSettings(disk: Disk, paths: HomePaths): Promise<ServeSettings> {
  const settings = await readServeSettings(disk, paths)
  if (settings !== null) return settings
  if ((await disk.identity(paths.access)) !== null) {
    throw new Refusal('configuration', 'host/serve.json is missing: it was lost, or init was cut off', {
      hint: `put back ${paths.settings} from a backup, or say the same drawbridge init … again`,
    })
  }
  throw new Refusal('configuration', 'this home is not initialised', {
    hint: 'drawbridge init --create-owner',
  })
}

/** Changes the settings under their lock, durably. */
export async function changeServeSettings(
  disk: Disk,
  paths: HomePaths,
  rule: SettingsRule,
): Promise<ServeSettings> {
  const lock = await disk.lock(`${paths.settings}.lock`, storeWaitMs, { create: true })
  try {
    const before = await requireServeSettings(disk, paths)
    const after = rule(before)
    if (after !== before) await writeServeSettings(disk, paths, after)
    return after
  } finally {
    await lock.release()
  }
}

/** Writes the settings; callers hold their lock, or make the first ones. */
export async function writeServeSettings(
  disk: Disk,
  paths: HomePaths,
  settings: ServeSettings,
): Promise<void> {
  await disk.replace(paths.settings, Buffer.from(`${JSON.stringify(settings, null, 2)}\n`))
}

/** The relay policy that these settings ask for. */
export function policyOf(settings: ServeSettings): RelayPolicy {
  return settings.loopback_test ? 'loopback_test' : 'production'
}

/** Adds relays that are not there yet. Refuses `forbidden` for a URL that the policy does not admit. */
export function withRelays(relays: readonly string[]): SettingsRule {
  return (settings) => {
    const fresh = relays
      .map((url) => checkRelayUrl(url, policyOf(settings)))
      .filter((url, index, all) => !settings.relays.includes(url) && all.indexOf(url) === index)
    if (fresh.length === 0) return settings
    const all = [...settings.relays, ...fresh]
    if (all.length > relaysMax) throw new Refusal('limit_exceeded', `at most ${relaysMax} relays`)
    return { ...settings, relays: all }
  }
}

/** Forgets a relay. Refuses `not_found` when it is not there. */
export function withoutRelay(url: string): SettingsRule {
  return (settings) => {
    if (!settings.relays.includes(url)) throw new Refusal('not_found', 'this relay is not in the settings')
    return { ...settings, relays: settings.relays.filter((kept) => kept !== url) }
  }
}

/**
 * Adds workspaces, whose paths `canonicalWorkspace` gave. The same again is no change; a label that names another
 * folder, or a folder that has another label, refuses `configuration`.
 */
export function withWorkspaces(workspaces: readonly Workspace[]): SettingsRule {
  return (settings) => {
    const all = [...settings.workspaces]
    for (const fresh of workspaces) {
      const taken = all.find((kept) => kept.label === fresh.label)
      if (taken === undefined) all.push(withOwnFolder(fresh, all))
      else if (taken.path !== fresh.path) {
        throw new Refusal('configuration', `the workspace ${fresh.label} names another folder already`, {
          hint: `drawbridge workspace remove ${fresh.label}`,
        })
      }
    }
    if (all.length > workspacesMax) throw new Refusal('limit_exceeded', `at most ${workspacesMax} workspaces`)
    return all.length === settings.workspaces.length ? settings : { ...settings, workspaces: all }
  }
}

function withOwnFolder(fresh: Workspace, others: readonly Workspace[]): Workspace {
  const namesake = others.find((kept) => kept.path === fresh.path)
  if (namesake === undefined) return fresh
  throw new Refusal('configuration', `the folder is the workspace ${namesake.label} already`, {
    hint: `drawbridge workspace remove ${namesake.label}`,
  })
}

/** Forgets a workspace; its tasks stay. Refuses `not_found` when it is not there. */
export function withoutWorkspace(label: string): SettingsRule {
  return (settings) => {
    const workspaces = settings.workspaces.filter((kept) => kept.label !== label)
    if (workspaces.length === settings.workspaces.length) {
      throw new Refusal('not_found', 'no workspace has this label')
    }
    return { ...settings, workspaces }
  }
}

/**
 * Checks a workspace as a person names it and makes its path canonical.
 *
 * Refuses `configuration` for a bad label, `io` when there is no such directory or no commit is checked out in it: every
 * turn is pinned to one. `unsafe_path` when it holds the home
 * or lies inside it: a turn must never reach the state that decides about it.
 */
export async function canonicalWorkspace(home: string, label: string, path: string): Promise<Workspace> {
  if (!isSingleLine(label, workspaceLabelBytesMax)) {
    throw new Refusal('configuration', 'a workspace label is one line of 1 to 128 bytes')
  }
  const real = await realDirectory(path)
  const realHome = await realPlace(home)
  if (isInside(real, realHome) || isInside(realHome, real)) {
    throw new Refusal('unsafe_path', 'a workspace must not contain the home, nor lie inside it')
  }
  await requireCommit(real)
  return { label, path: real }
}

async function requireCommit(path: string): Promise<void> {
  try {
    await headRevision(path)
  } catch (error) {
    if (!isRefusal(error, 'io') || error.hint !== undefined) throw error
    const git = `git -C ${quoted(path)}`
    throw new Refusal('io', `${path} is no git work tree with a commit: ${error.message}`, {
      cause: error,
      hint: `${git} init && ${git} commit --allow-empty -m Begin`,
    })
  }
}

/** The canonical path of the home, also of one that is still to be made. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realDirectory(path)
  } catch (error) {
    const above = dirname(path)
    if (!isRefusal(error, 'io') || above === path) throw error
    return join(await realPlace(above), basename(path))
  }
}

function isInside(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer === '/' ? outer : `${outer}/`)
}
