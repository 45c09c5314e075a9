import * as z from 'zod'
import {
  type TraceSession,
  type TraceStep,
  traceMomentSchema,
  traceSessionSchema,
  traceStepSchema,
  traceVersions,
} from './records.ts'

/** Why a line of a trace could not be taken. @see spec/evidence.md §2 */
export type TraceFaultKind =
  | 'torn'
  | 'not_utf8'
  | 'not_json'
  | 'unknown_record'
  | 'before_session'
  | 'unsupported_version'
  | 'bad_session'
  | 'bad_step'
  | 'repeated_session'
  | 'after_end'
  | 'repeated_end'

/** One line that reads. A moment that is missing or unreadable is null. */
export type TraceRecord =
  | { readonly record: 'session'; readonly at: number | null; readonly session: TraceSession }
  | { readonly record: 'step'; readonly step: TraceStep }
  | { readonly record: 'end'; readonly at: number | null; readonly state: string }

/**
 * Reads one finished line of a trace by itself. Pure.
 * @returns the record, or the fault that the line has wherever it stands
 */
export function readTraceLine(line: Uint8Array): TraceRecord | TraceFaultKind {
  const text = decode(line)
  if (text === null) return 'not_utf8'
  const value = parseObject(text)
  if (value === null) return 'not_json'
  if (value['record'] === 'session') return sessionOf(value)
  if (value['record'] === 'step') {
    const step = traceStepSchema.safeParse(value['step'])
    return step.success ? { record: 'step', step: step.data } : 'bad_step'
  }
  if (value['record'] === 'end')
    return { record: 'end', at: momentOf(value['at']), state: stateOf(value['state']) }
  return 'unknown_record'
}

function sessionOf(value: Record<string, unknown>): TraceRecord | TraceFaultKind {
  const version = value['schema_version']
  if (version !== undefined && !(typeof version === 'string' && traceVersions.includes(version))) {
    return 'unsupported_version'
  }
  const session = traceSessionSchema.safeParse(value['session'])
  return session.success
    ? { record: 'session', at: momentOf(value['at']), session: session.data }
    : 'bad_session'
}

function momentOf(value: unknown): number | null {
  const at = traceMomentSchema.safeParse(value)
  return at.success ? at.data : null
}

/** A missing state means `ended`; one that is no word is never taken for it. */
function stateOf(value: unknown): string {
  if (value === undefined) return 'ended'
  return typeof value === 'string' ? value : 'unreadable'
}

function decode(line: Uint8Array): string | null {
  try {
    return decoder.decode(line)
  } catch {
    return null
  }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value = objectSchema.safeParse(JSON.parse(text))
    return value.success ? value.data : null
  } catch {
    return null
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const objectSchema = z.record(z.string(), z.unknown())
