import { Refusal } from '../../protocol/refusal.ts'
import { readTraceLine, type TraceFaultKind, type TraceRecord } from './line.ts'
import type { TraceSession, TraceStep } from './records.ts'

/** One unreadable line; lines count from 1. */
export interface TraceFault {
  readonly line: number
  readonly kind: TraceFaultKind
}

/** What could be recovered from a trace. */
export interface TraceLog {
  readonly session: TraceSession
  readonly steps: readonly TraceStep[]
  readonly faults: readonly TraceFault[]
  /** The end record's state, or `interrupted` when there is none. */
  readonly state: string
  /** Whole seconds from the session to its end, or to its last step. */
  readonly seconds: number
  /** The session's directive, or the first thing that the user said. */
  readonly directive: string
  /** No fault, and ended. */
  readonly whole: boolean
}

interface Reading {
  session: { at: number | null; session: TraceSession } | null
  steps: TraceStep[]
  end: { at: number | null; state: string } | null
  faults: TraceFault[]
}

/**
 * Reads everything that a trace still holds, naming each line that it cannot read. Pure.
 * @returns null when no line is a session record: then it is not a trace
 * @see spec/evidence.md §2
 */
export function readTrace(bytes: Uint8Array): TraceLog | null {
  const reading = openReading()
  for (const piece of pieces(bytes)) reading.take(piece)
  return reading.log()
}

/** The same a little at a time: `rest` is awaited after each line, told how many bytes it had. */
export async function readTraceAtRest(
  bytes: Uint8Array,
  rest: (bytes: number) => Promise<void> | null,
): Promise<TraceLog | null> {
  const reading = openReading()
  for (const piece of pieces(bytes)) {
    reading.take(piece)
    const pausing = rest(piece.piece.length + 1)
    if (pausing !== null) await pausing
  }
  return reading.log()
}

/**
 * Reads a trace that must be whole. Refuses `corrupt_store`, naming the first fault or the interruption.
 * @see spec/evidence.md §2
 */
export function readWholeTrace(bytes: Uint8Array): TraceLog {
  const log = readTrace(bytes)
  if (log === null) throw new Refusal('corrupt_store', 'the trace has no session record')
  const [first, ...others] = log.faults
  if (first !== undefined) {
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    throw new Refusal('corrupt_store', `the trace is damaged: line ${first.line}: ${first.kind}${more}`)
  }
  if (!log.whole) throw new Refusal('corrupt_store', `the trace's session is ${log.state}`)
  return log
}

interface Piece {
  readonly piece: Uint8Array
  readonly finished: boolean
}

function openReading(): { take(piece: Piece): void; log(): TraceLog | null } {
  const reading: Reading = { session: null, steps: [], end: null, faults: [] }
  let line = 0
  return {
    take({ piece, finished }) {
      line += 1
      if (finished && isBlank(piece)) return
      const kind = finished ? take(reading, readTraceLine(piece)) : 'torn'
      if (kind !== null) reading.faults.push({ line, kind })
    },
    log: () => (reading.session === null ? null : logOf(reading, reading.session)),
  }
}

/** Takes one line in, or says what is wrong with it where it stands. */
function take(reading: Reading, record: TraceRecord | TraceFaultKind): TraceFaultKind | null {
  if (isUnreadable(record)) return record
  const tag = typeof record === 'string' ? (record === 'bad_step' ? 'step' : 'session') : record.record
  if (reading.end !== null) return tag === 'end' ? 'repeated_end' : 'after_end'
  if (reading.session === null && tag !== 'session') return 'before_session'
  if (reading.session !== null && tag === 'session') return 'repeated_session'
  if (typeof record === 'string') return record
  if (record.record === 'session') reading.session = { at: record.at, session: record.session }
  else if (record.record === 'step') reading.steps.push(record.step)
  else reading.end = { at: record.at, state: record.state }
  return null
}

/** Faults that a line has wherever it stands, before its kind is known. */
function isUnreadable(record: TraceRecord | TraceFaultKind): record is TraceFaultKind {
  return record === 'not_utf8' || record === 'not_json' || record === 'unknown_record'
}

function logOf(reading: Reading, session: NonNullable<Reading['session']>): TraceLog {
  const lastAt = reading.end?.at ?? reading.steps.at(-1)?.at ?? null
  const elapsedMs = lastAt === null || session.at === null ? 0 : lastAt - session.at
  const said = reading.steps.find((step) => step.source === 'User')?.message ?? ''
  const state = reading.end?.state ?? 'interrupted'
  return {
    session: session.session,
    steps: reading.steps,
    faults: reading.faults,
    state,
    seconds: Math.max(0, Math.floor(elapsedMs / 1000)),
    directive: session.session.directive === '' ? said : session.session.directive,
    whole: reading.faults.length === 0 && state === 'ended',
  }
}

/** The lines of `bytes`, split at line feeds before anything is decoded. An empty last piece is no line. */
function* pieces(bytes: Uint8Array): Generator<Piece> {
  let start = 0
  while (start < bytes.length) {
    const feed = bytes.indexOf(lineFeed, start)
    const end = feed === -1 ? bytes.length : feed
    yield { piece: bytes.subarray(start, end), finished: feed !== -1 }
    start = end + 1
  }
}

function isBlank(piece: Uint8Array): boolean {
  return piece.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}

const lineFeed = 0x0a
