import * as z from 'zod'
import {
  grantArgumentsMax,
  memoryBytesMax,
  memoryBytesMin,
  runningMax,
  settingsBytesMax,
  streamBytesMax,
  streamBytesMin,
  wallSecondsMax,
  workspaceLabelBytesMax,
  workspacesMax,
} from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { parseStrictJson } from '../../protocol/strict-json.ts'
import type { Disk } from '../../seams/disk.ts'

const schema = 'openagents.coder.host-autostart.v1'
const utf8 = new TextEncoder()
const label = z.string().refine((text) => text !== '' && utf8.encode(text).length <= workspaceLabelBytesMax)

const autostartEngineSchema = z.strictObject({
  adapter: z.literal('bounded-command'),
  program: z.string().startsWith('/'),
  program_digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  arguments: z.array(z.string().refine((text) => !text.includes('\0'))).max(grantArgumentsMax),
  write_workspace: z.boolean(),
  wall_seconds: z.number().int().min(1).max(wallSecondsMax),
  stream_bytes: z.number().int().min(streamBytesMin).max(streamBytesMax),
  memory_bytes: z.number().int().min(memoryBytesMin).max(memoryBytesMax),
  model: z.null(),
  effort: z.null(),
})
/** What a turn that starts by itself runs. The program is pinned by its canonical path and its digest. */
export type AutostartEngine = z.infer<typeof autostartEngineSchema>

const autostartPolicySchema = z.strictObject({
  schema: z.literal(schema),
  enabled: z.boolean(),
  workspaces: z.array(label).min(1).max(workspacesMax),
  max_running: z.number().int().min(1).max(runningMax),
  engine: autostartEngineSchema,
  /** Unix seconds of the host. */
  changed_at: z.number().int().min(0),
})
/** The owner's standing permission to start turns without being asked. @see spec/execution.md §13 */
export type AutostartPolicy = z.infer<typeof autostartPolicySchema>

/** Where the policy of a home is. */
function policyPath(home: string): string {
  return `${home}/host/autostart.json`
}

/** Where the grant that a policy gave a task at one revision is kept. */
export function standingGrantPath(home: string, taskId: string, revision: number): string {
  return `${home}/host/autostart/${taskId}-${revision}.grant.json`
}

/**
 * The policy as it stands now. A missing, unreadable or malformed one is null, and null is off.
 * @see spec/execution.md §13
 */
export async function readPolicy(disk: Disk, home: string): Promise<AutostartPolicy | null> {
  try {
    const bytes = await disk.read(policyPath(home), settingsBytesMax)
    if (bytes === null) return null
    const parsed = autostartPolicySchema.safeParse(
      parseStrictJson(bytes, { bytesMax: settingsBytesMax }).value,
    )
    return parsed.success ? parsed.data : null
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/** A policy that is switched on, and when its file was written, in nanoseconds of the file system. */
export interface PolicyInForce {
  readonly policy: AutostartPolicy
  readonly madeNs: bigint
}

/** The policy in force; null when there is none, or it is off. */
export async function policyInForce(disk: Disk, home: string): Promise<PolicyInForce | null> {
  const policy = await readPolicy(disk, home)
  if (policy === null || !policy.enabled) return null
  // After the reading: a policy that is replaced in between then counts as made later than it was, never earlier.
  const file = await disk.identity(policyPath(home))
  return file === null ? null : { policy, madeNs: file.mtimeNs }
}

/** Whether the file of a policy is still the one that was read. */
export async function isStillInForce(disk: Disk, home: string, { madeNs }: PolicyInForce): Promise<boolean> {
  return (await disk.identity(policyPath(home)))?.mtimeNs === madeNs
}

/**
 * Puts a policy in force, durably. Refuses `invalid_command` for one whose fields are out of bounds.
 */
export async function writePolicy(disk: Disk, home: string, policy: AutostartPolicy): Promise<void> {
  const parsed = autostartPolicySchema.safeParse(policy)
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join('.') ?? ''
    throw new Refusal('invalid_command', `the auto-start policy is out of bounds at ${field}`, { field })
  }
  await disk.makeDirectory(`${home}/host`)
  await disk.replace(policyPath(home), utf8.encode(`${JSON.stringify(parsed.data)}\n`))
}
