import {
  journalBytesMax,
  journalEntriesMax,
  journalLeasesBytesMax,
  ownerSharePercent,
  undecidedBytesPerDeviceMax,
  undecidedCommandsPerDeviceMax,
  undecidedInterruptsSpare,
} from '../limits.ts'
import { Refusal } from '../protocol/refusal.ts'
import { utf8Bytes } from '../protocol/text.ts'
import type { Entry, Sender } from './journal-entry.ts'
import { encodeEntry } from './journal-file.ts'
import { type Rows, undecidedWeight } from './journal-rows.ts'

const entriesBytesMax = journalBytesMax - journalLeasesBytesMax

/**
 * Makes room for a new entry. A full journal drops its oldest applied entries, whose store command IDs the identity
 * log keeps from ever running again; never an undecided one.
 *
 * Refuses `rate_limited` when the device has too much undecided (interrupts have a few places of their own, so that a
 * full queue can still be stopped), `bounds` when the journal is full. A tenth of it is kept for the owner.
 * @see spec/commands.md §1, spec/wire.md §7
 */
export function makeRoom(rows: Rows, entry: Entry): void {
  const weight = undecidedWeight(entry, encodeEntry(entry).length)
  if (!isOwner(entry.sender)) checkDevice(rows, entry, weight)
  while (rows.all().length >= journalEntriesMax || rows.weight() + weight > entriesBytesMax) {
    if (!rows.dropOldestApplied()) throw full()
  }
}

/**
 * Checks that a held message may take `text` in place of the one it has.
 *
 * Refuses `rate_limited` when the device would have too much undecided text, `bounds` when the journal is full.
 */
export function checkEdit(rows: Rows, entry: Entry, edited: Entry, text: string): void {
  const { device } = entry.sender
  const before = utf8Bytes(entry.edited ?? entry.request.text)
  const textBytes = rows.load(device).textBytes - before + utf8Bytes(text)
  if (!isOwner(entry.sender) && textBytes > undecidedBytesPerDeviceMax) throw tooMuch()
  const weight = undecidedWeight(edited, encodeEntry(edited).length)
  while (rows.weight() + weight > entriesBytesMax) {
    if (!rows.dropOldestApplied()) throw full()
  }
}

function checkDevice(rows: Rows, entry: Entry, weight: number): void {
  const load = rows.load(entry.sender.device)
  const spare = entry.request.kind === 'interrupt' ? undecidedInterruptsSpare : 0
  if (load.commands >= undecidedCommandsPerDeviceMax + spare) throw tooMuch()
  if (load.textBytes + utf8Bytes(entry.request.text) > undecidedBytesPerDeviceMax) throw tooMuch()
  const applied = rows.applied()
  const lasting = rows.all().length - applied.count
  const lastingWeight = rows.weight() - applied.weight
  if (lasting >= devicesShare(journalEntriesMax)) throw full()
  if (lastingWeight + weight > devicesShare(entriesBytesMax)) throw full()
}

/** The owner acts without a grant. */
function isOwner(sender: Sender): boolean {
  return sender.grant === null
}

function devicesShare(bound: number): number {
  return Math.floor((bound * (100 - ownerSharePercent)) / 100)
}

function tooMuch(): Refusal {
  return new Refusal('rate_limited', 'this device has too many undecided commands')
}

function full(): Refusal {
  return new Refusal('bounds', 'the command journal is full')
}
