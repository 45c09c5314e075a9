import { type DestinationStream, destination, type Level, pino } from 'pino'
import { isRefusal } from '../protocol/refusal.ts'
import type { Clock } from '../seams/clock.ts'

/** What a log line may carry beside its message: identifiers, codes, counts and durations. Never content. */
export interface LogFacts {
  readonly relay?: string
  readonly task?: string
  readonly device?: string
  readonly request?: string
  readonly operation?: string
  readonly code?: string
  readonly reason?: string
  readonly file?: string
  readonly count?: number
  readonly ms?: number
  readonly pid?: number
  /** The process ID of the owner of a turn. */
  readonly owner?: number
}

/** Where parts of the service say what happened. */
export interface Log {
  debug(message: string, facts?: LogFacts): void
  info(message: string, facts?: LogFacts): void
  warn(message: string, facts?: LogFacts): void
  error(message: string, facts?: LogFacts): void
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Names that must never reach a line, should a caller ever widen its facts. */
const secretNames = [
  'secret',
  'capability',
  'invitation',
  'token',
  'text',
  'prompt',
  'title',
  'key',
  'content',
]

/**
 * A log of one JSON object a line, written at once (nothing is lost at a crash).
 * @param to a file descriptor, or a stream that tests read
 */
export function createLog(clock: Clock, level: LogLevel, to: number | DestinationStream = 2): Log {
  const stream = typeof to === 'number' ? destination({ fd: to, sync: true }) : to
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"at":"${new Date(clock.nowMs()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`]) },
    },
    stream,
  )
  const line = (label: Level) => (message: string, facts?: LogFacts) => logger[label](facts ?? {}, message)
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

/** What may be said of an error: a refusal's code and message; of a bug its name and where it happened. */
export function reasonOf(error: unknown): string {
  if (isRefusal(error)) return `${error.code}: ${error.message}`
  if (!(error instanceof Error)) return typeof error
  const at = error.stack?.split('\n').find((line) => line.trimStart().startsWith('at '))
  return `${error.name} ${at?.trim() ?? ''}`.trimEnd()
}

/** Says nothing. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }
