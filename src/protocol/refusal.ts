/** Codes that travel in a signed refusal. @see spec/wire.md §5 */
export const wireCodes = [
  'malformed',
  'unsupported',
  'forbidden',
  'missing_right',
  'expired',
  'revoked',
  'stale',
  'conflict',
  'bounds',
  'unavailable',
  'rate_limited',
  'wrong_code',
  'denied',
] as const
export type WireCode = (typeof wireCodes)[number]

/** Codes of the task store and of execution. @see spec/store.md §13 */
export const storeCodes = [
  'io',
  'invalid_command',
  'unsupported_schema',
  'command_conflict',
  'revision_mismatch',
  'not_found',
  'invalid_transition',
  'limit_exceeded',
  'corrupt_store',
  'unsafe_path',
  'store_busy',
  'reopen_required',
  'workspace_busy',
] as const
export type StoreCode = (typeof storeCodes)[number]

/** Codes that only the command line gives. @see spec/cli.md, spec/task-cli.md */
export const cliCodes = [
  'read_command',
  'action_mismatch',
  'read_grant',
  'start_owner',
  'configuration',
  'output',
  'usage',
  'not_running',
  'already_running',
  'root_refused',
  'timeout',
  'interrupted',
] as const
export type CliCode = (typeof cliCodes)[number]

export type RefusalCode = WireCode | StoreCode | CliCode

/** What a refusal may say beside its code. */
export interface RefusalFacts {
  /** The field that was wrong, as a dotted path. */
  readonly field?: string
  /** With `missing_right`: the right. */
  readonly missing?: string
  /** The next thing to type, for a person. */
  readonly hint?: string
  readonly cause?: unknown
}

/**
 * The one error that a caller can act on. Its message is for people and never carries a secret, a capability,
 * a prompt or command text. Anything else that is thrown is a bug.
 */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly field: string | undefined
  readonly missing: string | undefined
  readonly hint: string | undefined

  constructor(code: RefusalCode, message: string, facts: RefusalFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'Refusal'
    this.code = code
    this.field = facts.field
    this.missing = facts.missing
    this.hint = facts.hint
  }
}

/** Whether `error` is a refusal, of `code` if one is given. */
export function isRefusal(error: unknown, code?: RefusalCode): error is Refusal {
  return error instanceof Refusal && (code === undefined || error.code === code)
}
