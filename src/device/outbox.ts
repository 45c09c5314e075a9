import { join } from 'node:path'
import {
  deviceReadsMax,
  outboxBytesMax,
  outboxDecidedMax,
  outboxUndecidedMax,
  storeWaitMs,
} from '../limits.ts'
import type { Result } from '../protocol/bodies/reply.ts'
import { Refusal } from '../protocol/refusal.ts'
import { refusalOf } from '../protocol/refusal-issues.ts'
import { parseStrictJson } from '../protocol/strict-json.ts'
import type { Disk, DiskLock } from '../seams/disk.ts'
import { type Attempt, type OutboxFile, outboxSchema, type Undecided } from './outbox-entry.ts'

export type OutboxEntry = OutboxFile['entries'][number]
export type SeenTask = OutboxFile['seen'][number]

/** What a device has to say and has not been answered. Every change is durable when its promise resolves. */
export interface Outbox {
  entries(): Promise<readonly OutboxEntry[]>
  /** Keeps it, with what was seen of its task. Refuses `rate_limited` when too much is undecided already. */
  add(entry: Undecided, seen?: SeenTask): Promise<void>
  /** Saves the request that is about to be sent. */
  attempt(id: string, attempt: Attempt): Promise<void>
  /** Says why there is still no answer. */
  explain(id: string, why: string): Promise<void>
  decide(id: string, result: Result): Promise<void>
  seen(task: string): Promise<SeenTask | null>
  /** Remembers what was seen of tasks; nulls leave what is known. */
  see(seen: readonly SeenTask[]): Promise<void>
  /** The right to send, for one process at a time, so that order is kept. Refuses `store_busy` after `waitMs`. */
  sender(waitMs: number): Promise<DiskLock>
}

/**
 * Opens the outbox of a state directory. Several processes may share it. A file that is not an outbox refuses
 * `malformed`, one for another host `conflict`; neither is ever overwritten.
 */
export function openOutbox(disk: Disk, dir: string, host: string): Outbox {
  const path = join(dir, 'outbox.json')
  const read = () => readOutbox(disk, path, host)

  const change = async (edit: (file: OutboxFile) => OutboxFile | null): Promise<void> => {
    const lock = await disk.lock(join(dir, 'outbox.lock'), storeWaitMs, { create: true })
    try {
      const changed = edit(await read())
      if (changed !== null) await disk.replace(path, Buffer.from(`${JSON.stringify(trimmed(changed))}\n`))
    } finally {
      await lock.release()
    }
  }
  const changeEntry = (id: string, edit: (entry: Undecided) => OutboxEntry): Promise<void> =>
    change((file) => {
      const entries = file.entries.map((entry) =>
        entry.id === id && entry.state === 'undecided' ? edit(entry) : entry,
      )
      return { ...file, entries }
    })

  return {
    entries: async () => (await read()).entries,
    add: (entry, seen) =>
      change((file) => {
        if (file.entries.filter(({ state }) => state === 'undecided').length >= outboxUndecidedMax) {
          throw new Refusal('rate_limited', `${outboxUndecidedMax} messages wait for an answer already`)
        }
        const added = { ...file, entries: [...file.entries, entry] }
        return seen === undefined ? added : (withSeen(added, seen) ?? added)
      }),
    attempt: (id, attempt) => changeEntry(id, (entry) => ({ ...entry, attempt })),
    explain: (id, why) => changeEntry(id, (entry) => ({ ...entry, why })),
    decide: (id, result) => changeEntry(id, (entry) => decided(entry, result)),
    seen: async (task) => (await read()).seen.find((one) => one.task === task) ?? null,
    see: (seen) =>
      change((file) =>
        seen.reduce<OutboxFile | null>((done, one) => withSeen(done ?? file, one) ?? done, null),
      ),
    sender: (waitMs) => disk.lock(join(dir, 'sender.lock'), waitMs, { create: true }),
  }
}

async function readOutbox(disk: Disk, path: string, host: string): Promise<OutboxFile> {
  const bytes = await disk.read(path, outboxBytesMax)
  if (bytes === null) return { schema: 'drawbridge.device-outbox.v1', host, entries: [], seen: [] }
  const parsed = outboxSchema.safeParse(parseStrictJson(bytes, { bytesMax: outboxBytesMax }).value)
  if (!parsed.success) throw refusalOf(parsed.error.issues, 'outbox')
  if (parsed.data.host !== host) throw new Refusal('conflict', `${path} holds messages for another host`)
  return parsed.data
}

function decided(entry: Undecided, result: Result): OutboxEntry {
  const { id, kind, task, queued_at } = entry
  const outcome =
    result.status === 'ok'
      ? { state: 'accepted' as const, code: null, missing: null }
      : { state: 'refused' as const, code: result.code, missing: result.missing }
  return { id, kind, task, queued_at, ...outcome }
}

function withSeen(file: OutboxFile, seen: SeenTask): OutboxFile | null {
  const known = file.seen.find((one) => one.task === seen.task)
  const revision = seen.revision ?? known?.revision ?? null
  const workspace = seen.workspace ?? known?.workspace ?? null
  if (known?.revision === revision && known.workspace === workspace) return null
  const others = file.seen.filter((one) => one.task !== seen.task)
  return { ...file, seen: [...others, { task: seen.task, revision, workspace }] }
}

/** Keeps everything undecided, and the newest of the rest. */
function trimmed(file: OutboxFile): OutboxFile {
  let surplus = file.entries.filter(({ state }) => state !== 'undecided').length - outboxDecidedMax
  const entries = file.entries.filter(({ state }) => {
    if (state === 'undecided' || surplus <= 0) return true
    surplus -= 1
    return false
  })
  return { ...file, entries, seen: file.seen.slice(-deviceReadsMax) }
}
