import * as z from 'zod'
import { parseStrictJson } from '../protocol/strict-json.ts'
import type { Disk } from '../seams/disk.ts'
import { effectivePrompt, turnOf } from '../store/tasks/derived.ts'
import type { Task } from '../store/tasks/task.ts'
import { type ProcessIdentity, processIdentitySchema } from './supervise/process-identity.ts'

const processFileSchema = processIdentitySchema.extend({ schema: z.literal('drawbridge.process.v1') })
const processFileBytesMax = 8_192

/**
 * Writes the folder that the command sees, read-only, at `/run/drawbridge/turn`: `prompt.txt` with the exact
 * effective prompt, and `turn.json` with the task, its turn and the revision that the grant names.
 * @returns the folder's path on the host
 */
export async function writeTurnFolder(disk: Disk, storeDir: string, task: Task): Promise<string> {
  const turn = turnOf(task)
  const folder = `${storeDir}/turn/${task.task_id}.${turn}`
  await disk.makeDirectory(folder)
  const facts = { schema: 'drawbridge.turn.v1', task: task.task_id, turn, revision: task.revision }
  await disk.replace(`${folder}/prompt.txt`, encoder.encode(effectivePrompt(task)))
  await disk.replace(`${folder}/turn.json`, encoder.encode(`${JSON.stringify(facts)}\n`))
  return folder
}

/**
 * Writes what identifies the run's processes. It is durable before the store learns of the process.
 * @see spec/execution.md §2
 */
export async function writeProcessFile(
  disk: Disk,
  storeDir: string,
  task: Task,
  identity: ProcessIdentity,
): Promise<void> {
  const text = `${JSON.stringify({ schema: 'drawbridge.process.v1', ...identity })}\n`
  await disk.replace(processFilePath(storeDir, task), encoder.encode(text))
}

/**
 * Reads what identifies the current turn's processes.
 * @returns null when the file was never written, `unreadable` when it is there and says nothing usable
 */
export async function readProcessFile(
  disk: Disk,
  storeDir: string,
  task: Task,
): Promise<ProcessIdentity | 'unreadable' | null> {
  const bytes = await disk.read(processFilePath(storeDir, task), processFileBytesMax)
  if (bytes === null) return null
  try {
    const { schema: _, ...identity } = processFileSchema.parse(
      parseStrictJson(bytes, { bytesMax: processFileBytesMax }).value,
    )
    return identity
  } catch {
    return 'unreadable'
  }
}

function processFilePath(storeDir: string, task: Task): string {
  return `${storeDir}/${task.task_id}.${turnOf(task)}.process.json`
}

const encoder = new TextEncoder()
