import { decidedKeptSeconds, lazyDoneMs } from '../limits.ts'
import { Refusal } from '../protocol/refusal.ts'
import { type Clock, nowSeconds, type Timer } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import { groupCommit } from './group-commit.ts'
import { checkEdit, makeRoom } from './journal-bounds.ts'
import {
  type CommandRequest,
  type Entry,
  type EntryState,
  isDone,
  type Lease,
  type Sender,
} from './journal-entry.ts'
import { createAssembler } from './journal-file.ts'
import { createRows, type Row, type Rows } from './journal-rows.ts'
import { asUnavailable, journalStore } from './journal-store.ts'
import { isLive } from './leases.ts'
import type { CommandLog } from './log.ts'

/**
 * The command journal in memory, and its durable copy. Changes are made at once and in memory; whoever tells
 * somebody of them first awaits `commit` or `durable`. Every method refuses `unavailable` while the file is missing,
 * malformed or in doubt; `ready` reads it again.
 */
export interface Journal {
  ready(): Promise<void>
  /** Refuses `unavailable` when the file was changed behind our back: for answers that need no write. */
  check(): Promise<void>
  find(device: string, command: string): Entry | null
  entries(): Entry[]
  /** The undecided entries of a task, in order: all that a decision looks at. */
  undecided(task: string): Entry[]
  undecidedTasks(): string[]
  lease(task: string): Lease | null
  leases(): Lease[]
  /** Records a command as `received`. Refuses `rate_limited` and `bounds`. @see journal-bounds.ts */
  add(sender: Sender, request: CommandRequest): Entry
  setState(entry: Entry, state: EntryState): void
  /** The same for what the recorded bytes would say again after a crash: it rides on the next write. */
  markLazily(entry: Entry, state: EntryState): void
  /** Puts a text in place of a held message's own; null takes it away again. Refuses like `add`. */
  setText(entry: Entry, text: string | null): void
  promote(entry: Entry): void
  /** Lets undecided entries of one task trade places among their own slots. */
  reorder(entries: readonly Entry[]): void
  setLease(task: string, lease: Lease | null): void
  /** What is in memory, until the file is read again: changes made to it are lost then. Only to be compared. */
  content(): object
  /**
   * Resolves when every change so far that matters is durable. Refuses `unavailable` as well when the file was read
   * again since the changes were made to `content`.
   */
  commit(content?: object): Promise<void>
  /** Whether the newest change of this entry that matters is durable. */
  isDurable(entry: Entry): boolean
  /** Writes what is only marked, and closes. */
  close(): Promise<void>
}

interface Content {
  readonly rows: Rows
  readonly leases: Map<string, Lease>
}

/** Opens the journal of a task store's directory, without reading it yet. @see spec/commands.md §1, §6 */
export function createJournal(deps: { disk: Disk; clock: Clock; dir: string; log: CommandLog }): Journal {
  const { clock, log } = deps
  const store = journalStore(deps.disk, deps.dir, log)
  const assemble = createAssembler()
  const now = () => nowSeconds(clock)
  let content: Content | null = null
  /** Why there is no content. */
  let closedBy = new Refusal('unavailable', 'the command journal is not open')
  let loading: Promise<void> | null = null
  let closed = false
  let version = 0
  let mustBeDurable = 0
  let lazy: Timer | null = null
  let prunedAt: number | null = null

  const writes = groupCommit(async () => {
    try {
      let written = 0
      await store.write(() => {
        const { rows, leases } = open()
        for (const [task, lease] of leases) if (!isLive(lease, now())) leases.delete(task)
        written = version
        return assemble(rows.all(), [...leases.values()])
      })
      return written
    } catch (cause) {
      // What is on disk is in doubt now: nothing counts until it was read again.
      content = null
      const refusal = asUnavailable(cause)
      closedBy = refusal
      log.error('a write of the command journal failed', { code: refusal.code, reason: refusal.message })
      throw refusal
    }
  })

  const load = async (): Promise<void> => {
    const file = await store.load().catch((cause: unknown) => {
      closedBy = asUnavailable(cause)
      throw cause
    })
    const rows = createRows()
    version += 1
    for (const entry of file.entries) rows.append(entry, version)
    content = { rows, leases: new Map(file.leases.map((lease) => [lease.task, lease])) }
    mustBeDurable = version
    writes.restart(version)
    prune(rows)
  }

  const open = (): Content => {
    if (content === null) throw closedBy
    return content
  }

  const prune = (rows: Rows): void => {
    const before = now() - decidedKeptSeconds
    rows.drop((row) => isDone(row.entry) && row.entry.received_at < before)
    prunedAt = now()
  }

  const rowOf = (entry: Entry): Row => {
    const row = open().rows.find(entry.sender.device, entry.request.command)
    if (row === undefined) throw new Refusal('unavailable', 'the command is no longer in the journal')
    return row
  }

  const changed = (row: Row | null): void => {
    version += 1
    mustBeDurable = version
    if (row !== null) row.version = version
  }

  const flush = async (): Promise<void> => {
    if (content !== null) await writes.until(version)
  }

  const flushSoon = (): void => {
    lazy ??= clock.after(lazyDoneMs, () => {
      lazy = null
      flush().catch(() => log.warn('the command journal could not be brought up to date'))
    })
  }

  return {
    async ready() {
      if (closed) throw new Refusal('unavailable', 'the command journal is closed')
      if (content !== null) return
      loading ??= load().finally(() => {
        loading = null
      })
      await loading
    },
    async check() {
      if (version > writes.durable()) return
      try {
        await store.check()
      } catch (cause) {
        if (version > writes.durable()) return
        content = null
        closedBy = asUnavailable(cause)
        throw closedBy
      }
    },
    find: (device, command) => open().rows.find(device, command)?.entry ?? null,
    entries: () =>
      open()
        .rows.all()
        .map((row) => row.entry),
    undecided: (task) =>
      open()
        .rows.undecided(task)
        .map((row) => row.entry),
    undecidedTasks: () => open().rows.undecidedTasks(),
    lease: (task) => open().leases.get(task) ?? null,
    leases: () => [...open().leases.values()],
    add(sender, request) {
      const { rows } = open()
      // Looking at every entry once a second is enough, however many commands come.
      if (now() !== prunedAt) prune(rows)
      const entry: Entry = { sender, request, received_at: now(), state: { state: 'received' } }
      makeRoom(rows, entry)
      changed(rows.append(entry, version))
      return entry
    },
    setState(entry, state) {
      const row = rowOf(entry)
      open().rows.replace(row, { ...row.entry, state })
      changed(row)
    },
    markLazily(entry, state) {
      const row = rowOf(entry)
      open().rows.replace(row, { ...row.entry, state })
      version += 1
      flushSoon()
    },
    setText(entry, text) {
      const row = rowOf(entry)
      const { edited: _, ...unedited } = row.entry
      const next = text === null ? unedited : { ...unedited, edited: text }
      checkEdit(open().rows, row.entry, next, text ?? row.entry.request.text)
      open().rows.replace(row, next)
      changed(row)
    },
    promote(entry) {
      const row = rowOf(entry)
      open().rows.replace(row, { ...row.entry, promoted: true })
      changed(row)
    },
    reorder(entries) {
      open().rows.permute(entries.map(rowOf))
      changed(null)
    },
    setLease(task, lease) {
      const { leases } = open()
      if (lease === null) leases.delete(task)
      else leases.set(task, lease)
      changed(null)
    },
    content: open,
    async commit(changed = open()) {
      if (open() !== changed) throw new Refusal('unavailable', 'the command journal had to be read again')
      await writes.until(mustBeDurable)
    },
    isDurable: (entry) => rowOf(entry).version <= writes.durable(),
    async close() {
      closed = true
      lazy?.cancel()
      await flush()
    },
  }
}
