import { join } from 'node:path'
import * as z from 'zod'
import { storeWaitMs, summariesFileBytesMax, summariesKeptMax, summarySecondsMax } from '../limits.ts'
import { type ActivitySummary, activitySummarySchema } from '../protocol/bodies/activity-summary.ts'
import { publicKey } from '../protocol/keys.ts'
import { parseStrictJson } from '../protocol/strict-json.ts'
import type { Disk } from '../seams/disk.ts'

const fileSchema = z.strictObject({
  schema: z.literal('drawbridge.device-summaries.v1'),
  host: publicKey,
  /** The newest of each task. */
  summaries: z.array(activitySummarySchema),
})

/** The newest activity summary of each task, as a device keeps them. */
export interface Summaries {
  /** Those of the last seven days, the one that changed last at the end. */
  all(now: number): Promise<readonly ActivitySummary[]>
  /** Keeps those that are newer by sequence than what is kept of their task. `now` is device time, Unix seconds. */
  keep(heard: readonly ActivitySummary[], now: number): Promise<void>
}

/** The newest by sequence of each task among `heard`, where that is newer than in `known`. Pure. */
export function newestOf(
  heard: readonly ActivitySummary[],
  known: ReadonlyMap<string, number>,
): readonly ActivitySummary[] {
  const newest = new Map<string, ActivitySummary>()
  for (const summary of heard) {
    const { id } = summary.subject
    if (summary.sequence > (newest.get(id)?.sequence ?? known.get(id) ?? -1)) newest.set(id, summary)
  }
  return inOrder([...newest.values()])
}

/**
 * Opens the summaries of a state directory, which several processes may share. The relay and the host have them too: a
 * file that cannot be read, or is of another host, is begun anew.
 * @see spec/wire.md §5
 */
export function openSummaries(disk: Disk, dir: string, host: string): Summaries {
  const path = join(dir, 'summaries.json')
  const read = async (): Promise<readonly ActivitySummary[]> => {
    const bytes = await disk.read(path, summariesFileBytesMax)
    if (bytes === null) return []
    try {
      const file = fileSchema.parse(parseStrictJson(bytes, { bytesMax: summariesFileBytesMax }).value)
      return file.host === host ? file.summaries : []
    } catch {
      return []
    }
  }
  return {
    all: async (now) => inOrder((await read()).filter(isOfLast(now))),
    async keep(heard, now) {
      const lock = await disk.lock(join(dir, 'summaries.lock'), storeWaitMs, { create: true })
      try {
        const kept = (await read()).filter(isOfLast(now))
        const newer = newestOf(heard, new Map(kept.map(({ subject, sequence }) => [subject.id, sequence])))
        if (newer.length === 0) return
        const replaced = new Set(newer.map(({ subject }) => subject.id))
        const others = kept.filter(({ subject }) => !replaced.has(subject.id))
        const summaries = inOrder([...others, ...newer]).slice(-summariesKeptMax)
        const file = { schema: 'drawbridge.device-summaries.v1', host, summaries }
        await disk.replace(path, Buffer.from(`${JSON.stringify(file)}\n`))
      } finally {
        await lock.release()
      }
    },
  }
}

function isOfLast(now: number): (summary: ActivitySummary) => boolean {
  return ({ updated_at }) => updated_at > now - summarySecondsMax
}

/** For people: the order decides nothing. */
function inOrder(summaries: readonly ActivitySummary[]): ActivitySummary[] {
  return [...summaries].sort((one, other) => one.updated_at - other.updated_at)
}
