import * as z from 'zod'
import { changesMax } from '../../limits.ts'

const rawHex = z.string().regex(/^[0-9a-f]{64}$/)
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/)
const path = z.string().min(1)

export const manifestSchemaName = 'openagents.coder.task-artifacts.v1'

const changeSchema = z.discriminatedUnion('change', [
  z.strictObject({ change: z.enum(['created', 'removed', 'modified', 'retyped']), path }),
  z.strictObject({ change: z.literal('renamed'), from: path, to: path, altered: z.boolean() }),
])

const entrySchema = z.strictObject({
  path,
  state: z.enum(['removed', 'directory', 'symlink', 'retained', 'unavailable', 'unavailable_or_over_limit']),
  digest: digest.nullable(),
  bytes: z.number().int().nonnegative().nullable(),
  link_target: z.string().nullable(),
})

/** What a run changed and what was kept of it. @see spec/evidence.md §6 */
export const manifestSchema = z.strictObject({
  schema: z.literal(manifestSchemaName),
  source_snapshot: rawHex,
  candidate_snapshot: rawHex.nullable(),
  complete: z.boolean(),
  omitted_changes: z.number().int().nonnegative(),
  changes: z.array(changeSchema).max(changesMax),
  entries: z.array(entrySchema).max(changesMax),
})

export type Manifest = z.infer<typeof manifestSchema>
export type ManifestChange = z.infer<typeof changeSchema>
export type ManifestEntry = z.infer<typeof entrySchema>

/** What a result says of its manifest. */
export interface ManifestReference {
  readonly artifact_file: string
  /** `sha256:` and the hex in the file's name. */
  readonly artifact_digest: string
}
