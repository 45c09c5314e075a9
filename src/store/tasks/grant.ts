import * as z from 'zod'
import {
  grantArgumentsMax,
  grantBytesMax,
  memoryBytesMax,
  memoryBytesMin,
  streamBytesMax,
  streamBytesMin,
  wallSecondsMax,
} from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { isIdentifier } from '../../protocol/text.ts'
import { sha256Digest } from '../digest.ts'
import { readStrict } from './strict.ts'

export const executionGrantSchemaName = 'openagents.coder.task-execution-grant.v1'

/** The operator's leave to run one turn. The types alone; `parseExecutionGrant` judges the values. */
export const executionGrantSchema = z.strictObject({
  schema: z.literal(executionGrantSchemaName),
  task_id: z.string(),
  intent_digest: z.string(),
  expected_revision: z.int(),
  expected_source_snapshot: z.string().nullable().default(null),
  program: z.string(),
  arguments: z.array(z.string()),
  write_workspace: z.boolean(),
  wall_seconds: z.int(),
  stream_bytes: z.int(),
  memory_bytes: z.int(),
  requirements: z.null().default(null),
  adapter_configuration: z.null().default(null),
})
export type ExecutionGrant = z.infer<typeof executionGrantSchema>

/** A grant with its exact text and the `sha256:` of its exact bytes: what an admission retains. */
export interface ParsedGrant {
  readonly grant: ExecutionGrant
  readonly digest: string
  readonly text: string
}

/**
 * Reads an execution grant. Check requirements and adapter configurations are refused: no grant may carry them yet.
 * @throws `invalid_command`, with its own message for bytes that are no bounded strict JSON, for a wrong shape, and
 * for an identity or number out of bounds
 * @see spec/execution.md §1
 */
export function parseExecutionGrant(bytes: Uint8Array): ParsedGrant {
  const parsed = executionGrantSchema.safeParse(readStrict(bytes, grantBytesMax, 'grant', 'invalid_command'))
  if (!parsed.success) throw invalid(`wrong shape${fieldOf(parsed.error)}`)
  const fault = grantFault(parsed.data)
  if (fault !== null) throw invalid(`${fault} is out of bounds`)
  return { grant: parsed.data, digest: sha256Digest(bytes), text: new TextDecoder().decode(bytes) }
}

function invalid(why: string): Refusal {
  return new Refusal('invalid_command', `execution grant: ${why}`)
}

/** Where a schema issue lies. Names of unknown fields are the writer's own words and are not repeated. */
function fieldOf(error: z.ZodError): string {
  const path = error.issues[0]?.path.map(String).join('.') ?? ''
  return path === '' ? '' : ` at ${path}`
}

/** The first field that breaks its rule, or null. */
function grantFault(grant: ExecutionGrant): string | null {
  if (!isIdentifier(grant.task_id)) return 'task_id'
  if (!isHexDigest(grant.intent_digest)) return 'intent_digest'
  const { expected_source_snapshot, program, arguments: words } = grant
  if (expected_source_snapshot !== null && !isHexDigest(expected_source_snapshot)) {
    return 'expected_source_snapshot'
  }
  if (!program.startsWith('/') || program.includes('\0')) return 'program'
  if (words.length > grantArgumentsMax || words.some((word) => word.includes('\0'))) return 'arguments'
  if (!isWithin(grant.wall_seconds, 1, wallSecondsMax)) return 'wall_seconds'
  if (!isWithin(grant.stream_bytes, streamBytesMin, streamBytesMax)) return 'stream_bytes'
  if (!isWithin(grant.memory_bytes, memoryBytesMin, memoryBytesMax)) return 'memory_bytes'
  return null
}

/** Shape only: whoever compares the digest with a stored one does so character for character. */
function isHexDigest(text: string): boolean {
  return /^(?:sha256:)?[0-9a-fA-F]{64}$/.test(text)
}

function isWithin(value: number, min: number, max: number): boolean {
  return value >= min && value <= max
}
