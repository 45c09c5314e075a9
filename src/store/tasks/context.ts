import * as z from 'zod'
import { jcs } from '../../protocol/jcs.ts'
import { sha256Digest, sha256Hex } from '../digest.ts'

const contextSchemaName = 'openagents.coder.task-context.v2'

/** One instruction file as it was frozen at admission. Its text never widens the grant. */
export const instructionSchema = z.strictObject({
  path: z.string(),
  scope: z.string(),
  digest: z.string(),
  text: z.string(),
})
export type Instruction = z.infer<typeof instructionSchema>

/**
 * What a run was told, frozen at admission. Suites, lineage and knowledge come from check requirements, which no
 * grant may carry yet, so none are accepted here.
 * @see spec/checks.md §3
 */
export const contextSchema = z.strictObject({
  schema: z.literal(contextSchemaName),
  task_revision: z.int().positive(),
  prompt: z.string(),
  instructions: z.array(instructionSchema),
  suites: z.array(z.never()),
  digest: z.string(),
})
export type TaskContext = z.infer<typeof contextSchema>

/**
 * Freezes what a run is told.
 * @param revision the task's revision at admission
 * @param prompt its effective prompt
 */
export function captureContext(
  revision: number,
  prompt: string,
  instructions: readonly Instruction[] = [],
): TaskContext {
  const fields = { task_revision: revision, prompt, instructions: [...instructions], suites: [] }
  return { schema: contextSchemaName, ...fields, digest: contextDigest(fields) }
}

/** Whether a context is one that `captureContext` gives for this revision and prompt. */
export function isContextOf(context: TaskContext, revision: number, prompt: string): boolean {
  if (context.task_revision !== revision || context.prompt !== prompt) return false
  if (context.instructions.some((instruction) => instruction.digest !== sha256Digest(instruction.text))) {
    return false
  }
  return context.digest === contextDigest(context)
}

/** Lineage and knowledge are part of what is hashed even where the stored form omits them. */
function contextDigest(context: Omit<TaskContext, 'schema' | 'digest'>): string {
  return sha256Hex(
    jcs({
      schema: contextSchemaName,
      task_revision: context.task_revision,
      prompt: context.prompt,
      instructions: context.instructions,
      suites: [],
      lineage: { task_sources: [], source_exclusions: [], checks: [] },
      knowledge: [],
    }),
  )
}
