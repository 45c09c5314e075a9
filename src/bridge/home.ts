import { Refusal } from '../protocol/refusal.ts'
import type { Clock } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import type { Random } from '../seams/random.ts'
import { betweenStores } from '../store/tasks/open.ts'
import { isBetweenStores } from '../store/tasks/retired.ts'
import { openTaskStore } from '../store/tasks/store.ts'
import { createAccessBook, readAccessBook } from './access/book.ts'
import { createGeneration } from './generation.ts'
import { checkHome, withModeHints } from './home-check.ts'
import { type KeyPair, keepKey, newKeyPair, readKeyFile } from './host-keys.ts'
import { createKeptReplies } from './kept-replies.ts'
import { type HomePaths, homePaths } from './paths.ts'
import { publicKeyFromText } from './public-key-text.ts'
import {
  canonicalWorkspace,
  changeServeSettings,
  readServeSettings,
  requireServeSettings,
  type ServeSettings,
  type SettingsRule,
  type Workspace,
  withRelays,
  withWorkspaces,
  writeServeSettings,
} from './serve-settings.ts'

export interface HomeDeps {
  readonly disk: Disk
  readonly clock: Clock
  readonly random: Random
  /** Absolute. */
  readonly home: string
}

export interface InitChoices {
  /** `npub1…` or 64 hex. */
  readonly owner?: string
  readonly createOwner?: boolean
  readonly relays?: readonly string[]
  readonly workspaces?: readonly { readonly label: string; readonly path: string }[]
  readonly loopbackTest?: boolean
}

/** What a home is. Keys are public keys, 64 hex. */
export interface HomeSummary {
  readonly host: string
  readonly owner: string
  readonly relays: string[]
  readonly workspaces: Workspace[]
  readonly loopback_test: boolean
}

/** An initialised home, checked: its keys and settings. */
export interface OpenHome {
  readonly paths: HomePaths
  readonly hostKey: KeyPair
  readonly settings: ServeSettings
}

/**
 * Establishes the owner, makes the host key, and records relays and workspaces. The same owner again (or none named)
 * only adds relays and workspaces. Everything that can be refused is checked before anything is written, and the
 * settings are written last: without them there is no home.
 *
 * Refuses `configuration` without an owner or with another one than before, `unsafe_path` (with what to type) for
 * files that others can reach, `forbidden` for a relay that the policy does not admit, `io` for a workspace that is no
 * directory, and `corrupt_store` when an initialised home has lost a file.
 * @see spec/cli.md
 */
export async function initHome(deps: HomeDeps, choices: InitChoices): Promise<HomeSummary> {
  const { disk, home } = deps
  const paths = homePaths(home)
  await checkHome(disk, home)
  await withModeHints(home, async () => {
    const settings = await readServeSettings(disk, paths)
    const keys = await chosenKeys(deps, paths, choices, settings)
    const rule = await additions(home, choices)
    if (settings === null) await establish(deps, paths, keys, rule)
    else {
      await readAccessBook(disk, paths, { host: keys.host.publicKey, owner: keys.owner })
      await openHome(disk, home)
      await changeServeSettings(disk, paths, rule)
    }
  })
  return summaryOf(await openHome(disk, home))
}

/**
 * Checks and opens an initialised home: private directories, host key, settings.
 *
 * Refuses `configuration` when it was never initialised, `unsafe_path` with what to type, `corrupt_store` when a
 * file is gone.
 */
export async function openHome(disk: Disk, home: string): Promise<OpenHome> {
  const open = await readHome(disk, home)
  await withModeHints(home, () => disk.makeDirectory(open.paths.run))
  return open
}

/** The same, without making even the directory for what a running service leaves. */
export async function readHome(disk: Disk, home: string): Promise<OpenHome> {
  const paths = homePaths(home)
  return await withModeHints(home, async () => {
    if ((await disk.identity(paths.home)) === null) {
      throw new Refusal('configuration', `there is no home at ${home}`, {
        hint: 'drawbridge init --create-owner',
      })
    }
    await checkHome(disk, home)
    const settings = await requireServeSettings(disk, paths)
    const hostKey = await requireHostKey(disk, paths)
    if (await isBetweenStores(disk, paths.tasks)) throw betweenStores()
    if ((await disk.identity(paths.tasks)) === null) {
      throw new Refusal('corrupt_store', 'the task store is missing from an initialised home', {
        hint: `put back ${paths.tasks} from a backup`,
      })
    }
    return { paths, hostKey, settings }
  })
}

/** What `init` prints. */
export function summaryOf({ hostKey, settings }: OpenHome): HomeSummary {
  const { owner, relays, workspaces, loopback_test } = settings
  return { host: hostKey.publicKey, owner, relays, workspaces, loopback_test }
}

/** Whose keys a home has, or will have once it is established. */
interface Keys {
  readonly host: KeyPair
  readonly owner: string
  /** The owner's own key, when it is made here. */
  readonly created: KeyPair | null
}

/** What the choices add to settings, whose workspaces are found to be there. */
async function additions(home: string, choices: InitChoices): Promise<SettingsRule> {
  const workspaces: Workspace[] = []
  for (const { label, path } of choices.workspaces ?? []) {
    workspaces.push(await canonicalWorkspace(home, label, path))
  }
  return (settings) =>
    withWorkspaces(workspaces)(withRelays(choices.relays ?? [])(withLoopback(settings, choices)))
}

/** The settings come last: they are the mark that everything else of the home is there. */
async function establish(deps: HomeDeps, paths: HomePaths, keys: Keys, rule: SettingsRule): Promise<void> {
  const { disk, clock } = deps
  const { host, owner, created } = keys
  const schema = 'drawbridge.serve.v1'
  const settings = rule({ schema, owner, relays: [], workspaces: [], loopback_test: false })
  if ((await disk.identity(paths.access)) !== null) await checkUnused(disk, paths, host, owner)
  for (const directory of [paths.home, paths.host, paths.run]) await disk.makeDirectory(directory)
  await keepKey(disk, paths.hostKey, host)
  if (created !== null) await keepKey(disk, paths.ownerKey, created)
  await createAccessBook(disk, paths, host.publicKey, owner)
  await createKeptReplies(disk, paths.replies)
  await createGeneration(disk, paths.generation)
  const store = await openTaskStore(disk, clock, paths.tasks)
  await store.close()
  await writeServeSettings(disk, paths, settings)
}

/** A book from before the settings is one that a crash of `init` left, or the settings were lost. */
async function checkUnused(disk: Disk, paths: HomePaths, hostKey: KeyPair, owner: string): Promise<void> {
  const record = await readAccessBook(disk, paths, { host: hostKey.publicKey, owner })
  if (record.epochs.length + record.invitations.length === 0) return
  throw new Refusal('corrupt_store', 'host/serve.json is missing from an initialised home', {
    hint: `put back ${paths.settings} from a backup`,
  })
}

async function requireHostKey(disk: Disk, paths: HomePaths): Promise<KeyPair> {
  const key = await readKeyFile(disk, paths.hostKey)
  if (key !== null) return key
  throw new Refusal('corrupt_store', 'host/host.key is missing from an initialised home', {
    hint: `put back ${paths.hostKey} from a backup: devices know this host by it`,
  })
}

/** Finds the keys of the home and invents the ones that are still to be made; nothing is written. */
async function chosenKeys(
  deps: HomeDeps,
  paths: HomePaths,
  choices: InitChoices,
  settings: ServeSettings | null,
): Promise<Keys> {
  const { disk, random } = deps
  const host =
    settings === null
      ? ((await readKeyFile(disk, paths.hostKey)) ?? newKeyPair(random))
      : await requireHostKey(disk, paths)
  const { owner, created } = await chosenOwner(deps, paths, choices, settings)
  if (owner === host.publicKey) {
    throw new Refusal('configuration', 'the owner must not be the host: keys are never shared')
  }
  return { host, owner, created }
}

async function chosenOwner(
  deps: HomeDeps,
  paths: HomePaths,
  choices: InitChoices,
  settings: ServeSettings | null,
): Promise<Pick<Keys, 'owner' | 'created'>> {
  if (choices.createOwner && choices.owner !== undefined) {
    throw new Refusal('configuration', 'name an owner or create one, not both')
  }
  const named = choices.owner === undefined ? null : publicKeyFromText(choices.owner)
  if (settings !== null) {
    const created = choices.createOwner ? await readKeyFile(deps.disk, paths.ownerKey) : null
    const asked = choices.createOwner ? (created?.publicKey ?? '') : (named ?? settings.owner)
    if (asked === settings.owner) return { owner: asked, created: null }
    throw new Refusal('configuration', 'this home serves another owner', {
      hint: 'drawbridge --home ANOTHER init …',
    })
  }
  if (named !== null) return { owner: named, created: null }
  if (choices.createOwner) {
    const created = (await readKeyFile(deps.disk, paths.ownerKey)) ?? newKeyPair(deps.random)
    return { owner: created.publicKey, created }
  }
  throw new Refusal('configuration', 'a home needs an owner', {
    hint: 'drawbridge init --owner NPUB, or drawbridge init --create-owner',
  })
}

function withLoopback(settings: ServeSettings, choices: InitChoices): ServeSettings {
  return choices.loopbackTest && !settings.loopback_test ? { ...settings, loopback_test: true } : settings
}
