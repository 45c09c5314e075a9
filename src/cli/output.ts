import picocolors from 'picocolors'
import { isRefusal, type Refusal } from '../protocol/refusal.ts'
import { jsonLine, printable } from './printable.ts'

/** What a command has to say: one JSON value, and the same for a person. */
export interface Answer {
  readonly json: unknown
  readonly text: string
  /** The exit code where it is not 0 although there is an answer. */
  readonly exit?: number
  /** What went wrong although there is an answer: it is said too, and gives the exit code. */
  readonly refusal?: Refusal
}

/** Colours for text on standard output: only on a terminal, and never with NO_COLOR. */
export const colours = picocolors.createColors(
  process.stdout.isTTY === true && (process.env['NO_COLOR'] ?? '') === '',
)

/**
 * The lines of standard error for something that went wrong, with what to type next where there is something: for a
 * person on a line of its own, in JSON at the end of the message.
 */
export function refusalText(error: unknown, json: boolean): string {
  const { code, message, field, hint } = factsOf(error)
  const where = field === undefined ? {} : { field }
  const whole = hint === undefined ? message : `${message}. ${hint}`
  if (json) return jsonLine({ error: { code, message: whole, ...where } })
  const next = hint === undefined ? '' : `${printable(hint)}\n`
  return `drawbridge: ${printable(message)} (${code})\n${next}`
}

/** Exit 64 is wrong usage, 69 says that the service is not running, 130 that a person interrupted, 1 any other refusal. */
export function exitCodeOf(error: unknown): number {
  if (isRefusal(error, 'usage')) return 64
  if (isRefusal(error, 'interrupted')) return 130
  return isRefusal(error, 'not_running') ? 69 : 1
}

/** Rows of cells as aligned columns, every cell made printable. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map(printable))
  const widths = heads.map((head, at) => Math.max(head.length, ...shown.map((row) => (row[at] ?? '').length)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (at === cells.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd()
  return `${[colours.dim(line(heads)), ...shown.map(line)].join('\n')}\n`
}

/** Facts, one a line, names aligned. */
export function facts(entries: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...entries.map(([name]) => name.length))
  return entries.map(([name, value]) => `${colours.dim(name.padEnd(width))}  ${printable(value)}\n`).join('')
}

/** Local time of Unix seconds, to the second. */
export function localTime(seconds: number): string {
  const at = new Date(seconds * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

function factsOf(error: unknown): { code: string; message: string; field?: string; hint?: string } {
  if (!isRefusal(error))
    return { code: 'internal', message: `a bug: ${(error as Error)?.message ?? 'unknown'}` }
  return {
    code: error.code,
    message: error.message,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  }
}
