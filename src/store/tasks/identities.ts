import { identitiesBytesMax, identitiesMax, ownerSharePercent, tasksMax } from '../../limits.ts'
import { isRefusal, Refusal } from '../../protocol/refusal.ts'
import { isIdentifier } from '../../protocol/text.ts'
import type { Disk, FileIdentity } from '../../seams/disk.ts'
import type { StoreLayout } from './layout.ts'
import type { Granted, Wish } from './reservations.ts'
import { isSameIdentity } from './same-identity.ts'

/** One accepted command id: what makes it impossible to use it again, even in another task. */
export interface Identity {
  readonly command_id: string
  readonly task_id: string
  readonly submit: boolean
}

/**
 * The log of accepted command ids. It only grows, and an id is in it before it is in a task's file: a log that says
 * otherwise has lost something, which every call refuses as `corrupt_store`.
 * @see spec/store.md §6, §10
 */
export interface Identities {
  /** How much the log holds. Needs no lock. */
  counts(): Promise<IdentityCounts>
  /** The task that a command id belongs to; undefined when it is free. Needs no lock. */
  ownerOf(commandId: string): Promise<string | undefined>
  /**
   * Checks that the log says this of the commands of a task. Its file was read before: a log that is read later has
   * them all.
   * @throws `corrupt_store` when it does not
   */
  requireOwned(commands: Iterable<Identity>): Promise<void>
  /**
   * Reserves command ids, durably and in one write. The caller holds `tasks.lock`. An id that its task has already is
   * fine: an earlier attempt crashed before its task file was written.
   * @returns for each wish null, or its refusal: `command_conflict` when another task has the id, or this one has it for
   * a command that submits and the wish does not, or the other way round; `limit_exceeded` when ids or tasks are used up, for a device when only the owner's share of them is left
   */
  reserve(wishes: readonly Wish[]): Promise<Granted[]>
}

/** How much the log holds: tasks that were submitted, command ids, and its length. */
export interface IdentityCounts {
  readonly tasks: number
  readonly commands: number
  readonly bytes: number
}

/** Whose wish a store command carries out. A tenth of what a store can hold is kept for the owner. */
export type CommandSender = 'owner' | 'device'

interface Contents {
  readonly owners: Map<string, Identity>
  readonly submitted: Set<string>
  /** Length up to the last complete line; a crash may have left half a line after it. */
  completeBytes: number
}

/**
 * The identities of a store, read again whenever the file is not the one last seen.
 * @param write runs what changes the log, and hears of its failure
 */
export function openIdentities(
  disk: Disk,
  layout: StoreLayout,
  write: <T>(work: () => Promise<T>) => Promise<T>,
): Identities {
  const path = layout.identities
  let seen: { identity: FileIdentity; contents: Contents } | null = null
  let latest: Contents | null = null

  async function current(): Promise<Contents> {
    const identity = await disk.identity(path)
    if (identity !== null && seen !== null && isSameIdentity(identity, seen.identity)) return seen.contents
    const earlier = latest === null ? [] : [...latest.owners.values()]
    const tasks = await submittedTasks(disk, layout)
    const bytes = await disk.read(path, identitiesBytesMax)
    if (identity === null || bytes === null) throw new Refusal('corrupt_store', 'identities.log is missing')
    const contents = parseIdentities(bytes)
    for (const identity of earlier) requireSame(contents, identity)
    if (tasks.some((taskId) => !contents.submitted.has(taskId))) throw lostIds()
    latest = contents
    const after = await disk.identity(path)
    seen = after !== null && isSameIdentity(identity, after) ? { identity, contents } : null
    return contents
  }

  async function append(contents: Contents, granted: readonly Identity[]): Promise<void> {
    const lines = Buffer.concat(granted.map(identityLine))
    seen = null
    await write(() => appendLines(disk, path, contents.completeBytes, lines))
    for (const identity of granted) note(contents, identity)
    contents.completeBytes += lines.length
    const after = await disk.identity(path)
    if (after?.size === BigInt(contents.completeBytes)) seen = { identity: after, contents }
  }

  return {
    async counts() {
      const { owners, submitted, completeBytes } = await current()
      return { tasks: submitted.size, commands: owners.size, bytes: completeBytes }
    },
    async ownerOf(commandId) {
      return (await current()).owners.get(commandId)?.task_id
    },
    async requireOwned(commands) {
      const contents = await current()
      for (const identity of commands) requireSame(contents, identity)
    },
    async reserve(wishes) {
      const contents = await current()
      const { granted, outcomes } = judge(contents, wishes)
      if (granted.length > 0) await append(contents, granted)
      return outcomes
    },
  }
}

/** Judges each wish as if those before it had been written. */
function judge(contents: Contents, wishes: readonly Wish[]): { granted: Identity[]; outcomes: Granted[] } {
  const added: Contents = { owners: new Map(), submitted: new Set(), completeBytes: contents.completeBytes }
  const outcomes = wishes.map(({ identity, sender }): Granted => {
    try {
      if (isReserved([contents, added], identity, sender)) return null
      const bytes = identityLine(identity).length
      if (added.completeBytes + bytes > identitiesBytesMax) {
        throw new Refusal('limit_exceeded', 'the log of command ids is full')
      }
      note(added, identity)
      added.completeBytes += bytes
      return null
    } catch (error) {
      if (isRefusal(error)) return error
      throw error
    }
  })
  return { granted: [...added.owners.values()], outcomes }
}

/** The line of an accepted command, newline included. */
export function identityLine({ command_id, task_id, submit }: Identity): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ command_id, task_id, submit })}\n`)
}

/** The tasks that have a file, and so were submitted. */
async function submittedTasks(disk: Disk, { tasks }: StoreLayout): Promise<string[]> {
  const names = (await disk.list(tasks)) ?? []
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .filter(isIdentifier)
}

function requireSame({ owners }: Contents, { command_id, task_id, submit }: Identity): void {
  const known = owners.get(command_id)
  if (known?.task_id !== task_id || known.submit !== submit) throw lostIds()
}

function lostIds(): Refusal {
  return new Refusal('corrupt_store', 'identities.log has lost command ids that tasks have used', {
    hint: 'put back identities.log from a backup',
  })
}

/** Whether this task has the id already. Refuses whatever keeps it from being reserved. */
function isReserved(
  [contents, added]: readonly [Contents, Contents],
  { command_id, task_id, submit }: Identity,
  sender: CommandSender,
): boolean {
  const known = contents.owners.get(command_id) ?? added.owners.get(command_id)
  if (known !== undefined) {
    if (known.task_id !== task_id)
      throw new Refusal('command_conflict', 'the command id belongs to another task')
    if (known.submit === submit) return true
    throw new Refusal('command_conflict', 'the command id was reserved for another command')
  }
  const [commands, tasks] = [shareOf(identitiesMax, sender), shareOf(tasksMax, sender)]
  if (contents.owners.size + added.owners.size >= commands) {
    throw new Refusal('limit_exceeded', `the store has accepted its ${commands} commands`)
  }
  const newTasks = [...added.submitted].filter((id) => !contents.submitted.has(id))
  if (submit && contents.submitted.size + newTasks.length >= tasks) {
    throw new Refusal('limit_exceeded', `the store has its ${tasks} tasks`)
  }
  return false
}

function shareOf(bound: number, sender: CommandSender): number {
  return sender === 'owner' ? bound : Math.floor((bound * (100 - ownerSharePercent)) / 100)
}

async function appendLines(
  disk: Disk,
  path: string,
  completeBytes: number,
  lines: Uint8Array,
): Promise<void> {
  const file = await disk.openAppend(path)
  try {
    if ((await file.size()) > completeBytes) await file.truncate(completeBytes)
    await file.append(lines)
  } finally {
    await file.close()
  }
}

/** A line is exactly what `identityLine` writes; anything else, if it is complete, was not written by a store. */
const linePattern =
  /^\{"command_id":"([A-Za-z0-9._-]+)","task_id":"([A-Za-z0-9._-]+)","submit":(true|false)\}$/

function parseIdentities(bytes: Uint8Array): Contents {
  const completeBytes = bytes.lastIndexOf(0x0a) + 1
  const contents: Contents = { owners: new Map(), submitted: new Set(), completeBytes }
  if (completeBytes === 0) return contents
  const text = new TextDecoder().decode(bytes.subarray(0, completeBytes - 1))
  for (const line of text.split('\n')) {
    const identity = parseLine(line)
    if (identity === null || contents.owners.has(identity.command_id)) {
      throw new Refusal('corrupt_store', 'identities.log has a line that no store wrote')
    }
    note(contents, identity)
  }
  return contents
}

function parseLine(line: string): Identity | null {
  const [, command_id, task_id, submit] = linePattern.exec(line) ?? []
  if (command_id === undefined || task_id === undefined) return null
  if (!isIdentifier(command_id) || !isIdentifier(task_id)) return null
  return { command_id, task_id, submit: submit === 'true' }
}

function note({ owners, submitted }: Contents, identity: Identity): void {
  owners.set(identity.command_id, identity)
  if (identity.submit) submitted.add(identity.task_id)
}
