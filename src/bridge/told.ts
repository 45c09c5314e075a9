import * as z from 'zod'
import { tasksMax, toldBytesMax, toldSaveMs } from '../limits.ts'
import { phaseSchema } from '../protocol/bodies/activity-summary.ts'
import { hexId } from '../protocol/keys.ts'
import { isRefusal } from '../protocol/refusal.ts'
import { parseStrictJson } from '../protocol/strict-json.ts'
import type { Clock, Timer } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import { type Log, reasonOf } from './log.ts'

const toldTask = z.strictObject({ task: hexId, revision: z.int().positive(), phase: phaseSchema })
/** Where a task stood when devices were last told of it. */
export type ToldTask = z.infer<typeof toldTask>

const toldFile = z.strictObject({
  schema: z.literal('drawbridge.told.v1'),
  tasks: z.array(toldTask).max(tasksMax),
})

/** What devices were told of each task. */
export interface Told {
  /** Whether this is news; it is told from now on. What is older than what was told is no news. */
  isNews(standing: ToldTask): boolean
  forget(task: string): void
  /** Whether there was no record of what was told before: then nothing that is there already is news. */
  readonly isFirst: boolean
  close(): Promise<void>
}

/**
 * Opens the record of what devices were told, so that a service that starts again repeats nothing and says what
 * changed while it was away. It is a convenience, written a while after a change: a crash may repeat a little, and
 * one that is missing or does not read is as good as none.
 */
export async function openTold(deps: { disk: Disk; clock: Clock; log: Log }, path: string): Promise<Told> {
  const { disk, clock, log } = deps
  const before = await read(disk, path)
  const told = new Map((before ?? []).map((standing) => [standing.task, standing]))
  let saving: Timer | null = null

  const save = async (): Promise<void> => {
    saving?.cancel()
    saving = null
    try {
      await disk.replace(path, encode([...told.values()]))
    } catch (error) {
      log.warn('what devices were told could not be noted', { file: path, reason: reasonOf(error) })
    }
  }
  const changed = (): void => {
    saving ??= clock.after(toldSaveMs, () => void save())
  }
  if (before === null) changed()

  return {
    isNews(standing) {
      const last = told.get(standing.task)
      if (last !== undefined && standing.revision < last.revision) return false
      if (last?.revision === standing.revision && last.phase === standing.phase) return false
      told.set(standing.task, standing)
      changed()
      return true
    },
    forget(task) {
      if (told.delete(task)) changed()
    },
    isFirst: before === null,
    async close() {
      if (saving !== null) await save()
    },
  }
}

async function read(disk: Disk, path: string): Promise<ToldTask[] | null> {
  try {
    const bytes = await disk.read(path, toldBytesMax)
    if (bytes === null) return null
    const parsed = toldFile.safeParse(parseStrictJson(bytes, { bytesMax: toldBytesMax }).value)
    return parsed.success ? parsed.data.tasks : null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

function encode(tasks: ToldTask[]): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ schema: 'drawbridge.told.v1', tasks })}\n`)
}
