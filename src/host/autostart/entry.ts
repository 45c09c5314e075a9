import * as z from 'zod'

const schema = 'openagents.coder.host-autostart-entry.v1'

const autostartEvents = [
  'eligible',
  'started',
  'skipped',
  'refused',
  'no_capacity',
  'usage',
  'ended',
  'unadmitted',
  'retry',
  'not_started',
  'policy_on',
  'policy_off',
] as const

const autostartEntrySchema = z.strictObject({
  schema: z.literal(schema),
  /** Unix milliseconds of the host. */
  at: z.number().int().min(0),
  event: z.enum(autostartEvents),
  task: z.string().optional(),
  /** The revision that the turn started at; left out for the first turn. */
  turn: z.number().int().min(2).optional(),
  device: z.string().optional(),
  workspace: z.string().optional(),
  grant_digest: z.string().optional(),
  owner_process: z.number().int().min(1).optional(),
  /** Plain words for a person; never a prompt or a title. */
  detail: z.string().optional(),
  resets_at: z.number().int().min(0).optional(),
})
/** One line of the auto-start journal. @see spec/execution.md §13 */
export type AutostartEntry = z.infer<typeof autostartEntrySchema>

/** An entry before it is stamped. */
export type NewAutostartEntry = Omit<AutostartEntry, 'schema' | 'at'>

/** One turn of one task, by the revision that it started at. */
export interface TurnKey {
  readonly task: string
  readonly start: number
}

/** Stamps an entry. */
export function stamped(entry: NewAutostartEntry, atMs: number): AutostartEntry {
  return { schema, at: atMs, ...entry }
}

/** The members that name a turn in an entry. */
export function entryTurn(key: TurnKey): { task: string; turn?: number } {
  return key.start === 1 ? { task: key.task } : { task: key.task, turn: key.start }
}

/**
 * Reads one line of the journal. Pure.
 * @returns null for a line that is no entry: such lines are skipped, never repaired
 */
export function readEntry(line: string): AutostartEntry | null {
  try {
    const parsed = autostartEntrySchema.safeParse(JSON.parse(line))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}

/** Skips that are final: nothing waits any more. Every other reason may pass once the owner says a policy again. */
export const skippedGone = 'the task is gone'
export const skippedNotQueued = 'the turn is no longer queued'

/** Whether an entry skips a turn that waits for nothing any more. Pure. */
export function isFinalSkip({ event, detail }: Pick<AutostartEntry, 'event' | 'detail'>): boolean {
  return event === 'skipped' && (detail === skippedGone || detail === skippedNotQueued)
}

/** Refusals that say "not now": they never count as a launch that failed. @see spec/execution.md §13 */
const postponingCodes: readonly string[] = ['workspace_busy', 'revision_mismatch', 'store_busy', 'disk_full']

/** The detail of an `unadmitted` entry: the code first, then words for a person. Pure. */
export function unadmittedDetail(code: string, words: string): string {
  return `${code}: ${words}`
}

/** The code that a detail begins with; null for one that is words alone. Pure. */
export function codeIn(detail: string): string | null {
  return /^([a-z_]+): /.exec(detail)?.[1] ?? null
}

/** Whether an `unadmitted` entry only says that the turn must be tried later. Pure. */
export function isPostponed(entry: Pick<AutostartEntry, 'detail'>): boolean {
  return postponingCodes.includes(codeIn(entry.detail ?? '') ?? '')
}
