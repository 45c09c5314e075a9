import { isRefusal, Refusal } from '../protocol/refusal.ts'
import type { Clock } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import type { Random } from '../seams/random.ts'
import { openTaskStore } from '../store/tasks/store.ts'
import { createAccessBook, readAccessBook } from './access/book.ts'
import { createGeneration } from './generation.ts'
import { ensureKeyFile, type KeyPair, readKeyFile } from './host-keys.ts'
import { createKeptReplies } from './kept-replies.ts'
import { type HomePaths, homePaths } from './paths.ts'
import { publicKeyFromText } from './public-key-text.ts'
import {
  canonicalWorkspace,
  changeServeSettings,
  readServeSettings,
  requireServeSettings,
  type ServeSettings,
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
 * only adds relays and workspaces.
 *
 * Refuses `configuration` without an owner or with another one than before, `unsafe_path` (with what to type) for
 * files that others can reach, `forbidden` for a relay that the policy does not admit, and `corrupt_store` when an
 * initialised home has lost a file.
 * @see spec/cli.md
 */
export async function initHome(deps: HomeDeps, choices: InitChoices): Promise<HomeSummary> {
  const { disk, home } = deps
  const paths = homePaths(home)
  await withModeHints(home, async () => {
    for (const directory of [paths.home, paths.host, paths.run]) await disk.makeDirectory(directory)
    const settings = await readServeSettings(disk, paths)
    const hostKey =
      settings === null
        ? await ensureKeyFile(disk, paths.hostKey, deps.random)
        : await requireHostKey(disk, paths)
    const owner = await chosenOwner(deps, paths, choices, settings)
    if (owner === hostKey.publicKey) {
      throw new Refusal('configuration', 'the owner must not be the host: keys are never shared')
    }
    if (settings === null) await establish(deps, paths, hostKey, owner, choices.loopbackTest ?? false)
    else await readAccessBook(disk, paths, { host: hostKey.publicKey, owner })
  })
  const workspaces: Workspace[] = []
  for (const { label, path } of choices.workspaces ?? []) {
    workspaces.push(await canonicalWorkspace(home, label, path))
  }
  await changeServeSettings(disk, paths, (settings) =>
    withWorkspaces(workspaces)(withRelays(choices.relays ?? [])(withLoopback(settings, choices))),
  )
  return summaryOf(await openHome(disk, home))
}

/**
 * Checks and opens an initialised home: private directories, host key, settings.
 *
 * Refuses `configuration` when it was never initialised, `unsafe_path` with what to type, `corrupt_store` when a
 * file is gone.
 */
export async function openHome(disk: Disk, home: string): Promise<OpenHome> {
  const paths = homePaths(home)
  return await withModeHints(home, async () => {
    if ((await disk.identity(paths.home)) === null) {
      throw new Refusal('configuration', `there is no home at ${home}`, {
        hint: 'drawbridge init --create-owner',
      })
    }
    await disk.checkDirectory(paths.home)
    if ((await disk.identity(paths.host)) !== null) await disk.checkDirectory(paths.host)
    const settings = await requireServeSettings(disk, paths)
    const hostKey = await requireHostKey(disk, paths)
    await disk.makeDirectory(paths.run)
    if ((await disk.identity(paths.tasks)) === null) {
      throw new Refusal('corrupt_store', 'the task store is missing from an initialised home', {
        hint: `put back ${paths.tasks} from a backup`,
      })
    }
    await disk.checkDirectory(paths.tasks)
    return { paths, hostKey, settings }
  })
}

/** What `init` prints. */
export function summaryOf({ hostKey, settings }: OpenHome): HomeSummary {
  const { owner, relays, workspaces, loopback_test } = settings
  return { host: hostKey.publicKey, owner, relays, workspaces, loopback_test }
}

/** The settings come last: they are the mark that everything else of the home is there. */
async function establish(
  deps: HomeDeps,
  paths: HomePaths,
  hostKey: KeyPair,
  owner: string,
  loopback_test: boolean,
): Promise<void> {
  const { disk, clock } = deps
  if ((await disk.identity(paths.access)) !== null) await checkUnused(disk, paths, hostKey, owner)
  await createAccessBook(disk, paths, hostKey.publicKey, owner)
  await createKeptReplies(disk, paths.replies)
  await createGeneration(disk, paths.generation)
  const store = await openTaskStore(disk, clock, paths.tasks)
  await store.close()
  const schema = 'drawbridge.serve.v1'
  await writeServeSettings(disk, paths, { schema, owner, relays: [], workspaces: [], loopback_test })
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

async function chosenOwner(
  deps: HomeDeps,
  paths: HomePaths,
  choices: InitChoices,
  settings: ServeSettings | null,
): Promise<string> {
  if (choices.createOwner && choices.owner !== undefined) {
    throw new Refusal('configuration', 'name an owner or create one, not both')
  }
  const named = choices.owner === undefined ? null : publicKeyFromText(choices.owner)
  if (settings !== null) {
    const created = choices.createOwner ? await readKeyFile(deps.disk, paths.ownerKey) : null
    const asked = choices.createOwner ? (created?.publicKey ?? '') : (named ?? settings.owner)
    if (asked === settings.owner) return settings.owner
    throw new Refusal('configuration', 'this home serves another owner', {
      hint: 'drawbridge --home ANOTHER init …',
    })
  }
  if (named !== null) return named
  if (choices.createOwner) return (await ensureKeyFile(deps.disk, paths.ownerKey, deps.random)).publicKey
  throw new Refusal('configuration', 'a home needs an owner', {
    hint: 'drawbridge init --owner NPUB, or drawbridge init --create-owner',
  })
}

function withLoopback(settings: ServeSettings, choices: InitChoices): ServeSettings {
  return choices.loopbackTest && !settings.loopback_test ? { ...settings, loopback_test: true } : settings
}

/** Runs `run`; a refusal because others can reach a file of the home says what to type against it. */
export async function withModeHints<T>(home: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!isRefusal(error, 'unsafe_path') || !error.message.includes('accessible to others')) throw error
    const hint = `chmod -R go= '${home.replaceAll("'", "'\\''")}'`
    throw new Refusal('unsafe_path', error.message, { cause: error, hint })
  }
}
