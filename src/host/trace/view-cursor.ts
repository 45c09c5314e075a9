import * as z from 'zod'
import { Refusal } from '../../protocol/refusal.ts'
import { sha256Digest } from '../../store/digest.ts'
import type { RenderedStep } from './render.ts'

export const viewSchemaName = 'openagents.coder.task-view.v1'

/** A place in one turn's steps, bound to everything before it. @see spec/evidence.md §5 */
export const viewCursorSchema = z.strictObject({
  schema: z.literal(viewSchemaName),
  task_id: z.string(),
  intent_digest: z.string(),
  trace_file: z.string(),
  next_step: z.number().int().min(0),
  prefix_digest: z.string(),
})
export type ViewCursor = z.infer<typeof viewCursorSchema>

/** What a cursor belongs to. */
export interface CursorSource {
  readonly taskId: string
  readonly intentDigest: string
  readonly traceFile: string
  readonly steps: readonly RenderedStep[]
}

/** The cursor that stands before step number `nextStep`, counted from 0. Pure. */
export function cursorAt(source: CursorSource, nextStep: number): ViewCursor {
  return {
    schema: viewSchemaName,
    task_id: source.taskId,
    intent_digest: source.intentDigest,
    trace_file: source.traceFile,
    next_step: nextStep,
    prefix_digest: prefixDigest(source, nextStep),
  }
}

/**
 * Where a reader goes on. Refuses `command_conflict` for a cursor of another task, turn or text, or one past the end.
 * Steps that were appended since leave it valid. Pure.
 */
export function placeOf(source: CursorSource, cursor: ViewCursor | null): number {
  if (cursor === null) return 0
  if (cursor.next_step <= source.steps.length) {
    const here = cursorAt(source, cursor.next_step)
    const same =
      cursor.task_id === here.task_id &&
      cursor.intent_digest === here.intent_digest &&
      cursor.trace_file === here.trace_file &&
      cursor.prefix_digest === here.prefix_digest
    if (same) return cursor.next_step
  }
  throw new Refusal('command_conflict', 'the cursor does not belong to these steps')
}

function prefixDigest(source: CursorSource, count: number): string {
  return sha256Digest(
    JSON.stringify({
      task: source.taskId,
      intent: source.intentDigest,
      trace: source.traceFile,
      steps: source.steps.slice(0, count),
    }),
  )
}
