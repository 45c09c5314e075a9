import { utf8Bytes } from '../protocol/text.ts'
import { type Entry, entryKey, isDone, textOf } from './journal-entry.ts'
import { encodeEntry } from './journal-file.ts'

/** An entry and what is kept beside it. */
export interface Row {
  entry: Entry
  /** Its serialised bytes, so that a write never encodes an unchanged entry again. */
  bytes: Buffer
  /** Bytes that it may need before it is decided; its own bytes afterwards. */
  weight: number
  /** The newest change of it that must be durable before anybody is told. */
  version: number
}

/** What one device has undecided. */
export interface DeviceLoad {
  readonly commands: number
  readonly textBytes: number
}

/** The entries of a journal in their order, the undecided ones also by task, with what they add up to. */
export interface Rows {
  all(): readonly Row[]
  find(device: string, command: string): Row | undefined
  /** The undecided ones of a task, in order: all that a decision looks at, however long the history is. */
  undecided(task: string): readonly Row[]
  undecidedTasks(): string[]
  load(device: string): DeviceLoad
  bytes(): number
  weight(): number
  /** The applied ones, which a full journal may drop. */
  applied(): { readonly count: number; readonly weight: number }
  append(entry: Entry, version: number): Row
  replace(row: Row, entry: Entry): void
  drop(unwanted: (row: Row) => boolean): void
  dropOldestApplied(): boolean
  /** Puts undecided rows of one task, in the order given, into the places that they have among themselves. */
  permute(rows: readonly Row[]): void
}

/** Bytes that dispatching adds around the text, at most. */
const dispatchingBytes = 1_024

/** Bytes an undecided entry of `bytes` may grow to: its text again, inside a command inside a string. */
export function undecidedWeight(entry: Entry, bytes: number): number {
  return bytes + Buffer.byteLength(JSON.stringify(JSON.stringify(textOf(entry)))) + dispatchingBytes
}

/** Indexes the entries of a journal. */
export function createRows(): Rows {
  let rows: Row[] = []
  const byKey = new Map<string, Row>()
  const undecided = new Map<string, Row[]>()
  const loads = new Map<string, DeviceLoad>()
  const sums = { bytes: 0, weight: 0, applied: 0, appliedWeight: 0 }

  const count = (row: Row, sign: 1 | -1): void => {
    const { entry } = row
    sums.bytes += sign * row.bytes.length
    sums.weight += sign * row.weight
    if (isApplied(row)) {
      sums.applied += sign
      sums.appliedWeight += sign * row.weight
    }
    if (isDone(entry)) return
    const { device } = entry.sender
    const load = loads.get(device) ?? { commands: 0, textBytes: 0 }
    const commands = load.commands + sign
    const textBytes = load.textBytes + sign * utf8Bytes(textOf(entry))
    setOrDelete(loads, device, commands === 0 ? null : { commands, textBytes })
  }

  const enter = (row: Row): void => {
    const { task } = row.entry.request
    const rest = undecided.get(task)
    if (rest === undefined) undecided.set(task, [row])
    else rest.push(row)
  }

  const leave = (row: Row): void => {
    const { task } = row.entry.request
    const rest = (undecided.get(task) ?? []).filter((other) => other !== row)
    setOrDelete(undecided, task, rest.length === 0 ? null : rest)
  }

  const forget = (row: Row): void => {
    count(row, -1)
    byKey.delete(entryKey(row.entry.sender.device, row.entry.request.command))
    leave(row)
  }

  return {
    all: () => rows,
    find: (device, command) => byKey.get(entryKey(device, command)),
    undecided: (task) => undecided.get(task) ?? [],
    undecidedTasks: () => [...undecided.keys()],
    load: (device) => loads.get(device) ?? { commands: 0, textBytes: 0 },
    bytes: () => sums.bytes,
    weight: () => sums.weight,
    applied: () => ({ count: sums.applied, weight: sums.appliedWeight }),
    append(entry, version) {
      const bytes = encodeEntry(entry)
      const row: Row = { entry, bytes, weight: weigh(entry, bytes), version }
      rows.push(row)
      byKey.set(entryKey(entry.sender.device, entry.request.command), row)
      if (!isDone(entry)) enter(row)
      count(row, 1)
      return row
    },
    replace(row, entry) {
      count(row, -1)
      const edited = entry.edited !== row.entry.edited
      row.entry = entry
      row.bytes = encodeEntry(entry)
      // While it is undecided its weight covers whatever state it passes through.
      if (edited || isDone(entry)) row.weight = weigh(entry, row.bytes)
      count(row, 1)
      if (isDone(entry)) leave(row)
    },
    drop(unwanted) {
      const gone = rows.filter(unwanted)
      if (gone.length === 0) return
      for (const row of gone) forget(row)
      const lost = new Set(gone)
      rows = rows.filter((row) => !lost.has(row))
    },
    dropOldestApplied() {
      const at = rows.findIndex(isApplied)
      const row = rows[at]
      if (row === undefined) return false
      forget(row)
      rows.splice(at, 1)
      return true
    },
    permute(wanted) {
      const [first] = wanted
      if (first === undefined) return
      place(rows, wanted)
      place(undecided.get(first.entry.request.task) ?? [], wanted)
    },
  }
}

/** Fills the places of `wanted` in `list`, in their order there, with `wanted` in its own order. */
function place(list: Row[], wanted: readonly Row[]): void {
  const moving = new Set(wanted)
  const next = wanted[Symbol.iterator]()
  for (const [index, row] of list.entries()) {
    if (!moving.has(row)) continue
    const { value } = next.next()
    if (value !== undefined) list[index] = value
  }
}

function isApplied(row: Row): boolean {
  return row.entry.state.state === 'done' && row.entry.state.outcome === 'applied'
}

function weigh(entry: Entry, bytes: Buffer): number {
  return isDone(entry) ? bytes.length : undecidedWeight(entry, bytes.length)
}

function setOrDelete<K, V>(map: Map<K, V>, key: K, value: V | null): void {
  if (value === null) map.delete(key)
  else map.set(key, value)
}
