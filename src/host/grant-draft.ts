import { type ExecutionGrant, executionGrantSchema, executionGrantSchemaName } from '../store/tasks/grant.ts'
import type { Task } from '../store/tasks/task.ts'

/** What the operator decides about a turn; the rest of its grant follows from the task. */
export interface GrantTerms {
  /** Canonical absolute path. */
  readonly program: string
  readonly arguments: readonly string[]
  readonly write_workspace: boolean
  readonly wall_seconds: number
  readonly stream_bytes: number
  readonly memory_bytes: number
  /** Raw hex; the turn then runs on exactly this tree. */
  readonly expected_source_snapshot?: string
}

/** The terms of a grant for which nothing else was said. @see spec/cli.md */
export const defaultGrantTerms: Pick<
  GrantTerms,
  'write_workspace' | 'wall_seconds' | 'stream_bytes' | 'memory_bytes'
> = {
  write_workspace: false,
  wall_seconds: 600,
  stream_bytes: 262_144,
  memory_bytes: 2_147_483_648,
}

/** A grant ready to be started: its parsed form and its exact text. */
export interface GrantDraft {
  readonly grant: ExecutionGrant
  readonly text: string
}

/**
 * Drafts the grant for a task's current turn, at its current revision: any later change of the task makes it stale.
 * Bounds are checked when the grant is parsed, not here. Pure.
 * @see spec/execution.md §1
 */
export function draftGrant(task: Task, terms: GrantTerms): GrantDraft {
  const grant = {
    schema: executionGrantSchemaName,
    task_id: task.task_id,
    intent_digest: task.intent_digest,
    expected_revision: task.revision,
    ...(terms.expected_source_snapshot === undefined
      ? {}
      : { expected_source_snapshot: terms.expected_source_snapshot }),
    program: terms.program,
    arguments: [...terms.arguments],
    write_workspace: terms.write_workspace,
    wall_seconds: terms.wall_seconds,
    stream_bytes: terms.stream_bytes,
    memory_bytes: terms.memory_bytes,
  }
  const text = `${JSON.stringify(grant)}\n`
  return { grant: executionGrantSchema.parse(grant), text }
}
