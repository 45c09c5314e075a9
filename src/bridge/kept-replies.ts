import * as z from 'zod'
import {
  keptRepliesBytesMax,
  keptRepliesCompactBytes,
  keptRepliesFreshBytesMax,
  keptRepliesPieceCharacters,
  keptRepliesWaitingBytesMax,
} from '../limits.ts'
import { eventSchema } from '../protocol/event.ts'
import { hexId, publicKey, unixSeconds } from '../protocol/keys.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { parseStrictJson } from '../protocol/strict-json.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import type { AppendFile, Disk } from '../seams/disk.ts'
import { groupWriter } from './group-writer.ts'
import type { Log } from './log.ts'

const keptReply = z.strictObject({
  request: hexId,
  request_event: hexId,
  signer: publicKey,
  /** The signer's epoch, so that a revocation leaves older answers behind. The owner's is 0. */
  epoch: z.int().min(0),
  expires_at: unixSeconds,
  reply: eventSchema.nullable(),
})
/** What is kept of one request until it expires; `reply` is null while its effect may not have happened yet. */
export type KeptReply = z.infer<typeof keptReply>

/** Request identities and signed answers, in an append file of their own. */
export interface KeptReplies {
  /** By request ID, unless it expired. */
  find(request: string): KeptReply | null
  /** Remembers at once and resolves when it is on disk; concurrent saves share one write. */
  save(kept: KeptReply): Promise<void>
  /** Remembers at once and rides on the next save, or on `close`. */
  ride(kept: KeptReply): void
  /** Forgets what `signer` was answered. */
  drop(signer: string): void
  size(): number
  close(): Promise<void>
}

/**
 * Opens `replies.jsonl`, leaving out what has expired and what its signer was answered in an earlier epoch.
 *
 * A missing file, one of another schema, or a line that does not read (a torn last one excepted) refuses
 * `corrupt_store`. `save` refuses `rate_limited` when what is still fresh leaves the file, 64 MiB at most, no room to
 * grow between two rewrites.
 * @see spec/wire.md §7
 */
export async function openKeptReplies(
  deps: { disk: Disk; clock: Clock; log: Log },
  path: string,
  epochOf: (signer: string) => number,
): Promise<KeptReplies> {
  const { disk, clock } = deps
  const memory = createMemory(clock)
  for (const entry of decode(await disk.read(path, keptRepliesBytesMax))) {
    if (entry.epoch >= epochOf(entry.signer)) memory.put(entry, encodeLine(entry).length)
  }
  let file: AppendFile | null = await rewrite(disk, path, memory.all())
  let fileBytes = await file.size()

  const writer = groupWriter(async (block) => {
    const bytesMax = Math.min(keptRepliesBytesMax, Math.max(keptRepliesCompactBytes, 2 * memory.bytes()))
    if (file === null || fileBytes + block.length > bytesMax) {
      await file?.close()
      // A rewrite that fails leaves no file to append to: the next save rewrites it.
      file = null
      file = await rewrite(disk, path, memory.all())
      // What is being written is in memory already, so the new file has it.
      fileBytes = await file.size()
      return
    }
    await file.append(block)
    fileBytes += block.length
  })

  return {
    find: memory.find,
    save(entry) {
      const line = encodeLine(entry)
      if (!memory.put(entry, line.length)) {
        return Promise.reject(new Refusal('rate_limited', 'too many answers are kept'))
      }
      writer.add(line)
      return writer.flush()
    },
    ride(entry) {
      const line = encodeLine(entry)
      if (!memory.put(entry, line.length)) return
      writer.add(line)
      if (writer.waitingBytes() > keptRepliesWaitingBytesMax) writer.flush().catch(() => undefined)
    },
    drop: memory.drop,
    size: () => memory.all().length,
    async close() {
      await writer.flush().catch(() => deps.log.warn('the last answers could not be kept', { file: path }))
      await file?.close()
    },
  }
}

/** Reads the file as `openKeptReplies` would, refusing what it refuses, and leaves it as it is. */
export async function checkKeptReplies(disk: Disk, path: string): Promise<void> {
  decode(await disk.read(path, keptRepliesBytesMax))
}

/** Writes the first, empty file. Only `initHome` calls it. */
export async function createKeptReplies(disk: Disk, path: string): Promise<void> {
  await disk.replace(path, piecesOf([]))
}

/** What is fresh, by request, within the bound of the file. */
function createMemory(clock: Clock) {
  const kept = new Map<string, { entry: KeptReply; bytes: number }>()
  let bytes = 0
  const isFresh = (entry: KeptReply) => entry.expires_at > nowSeconds(clock)

  const remove = (request: string): void => {
    bytes -= kept.get(request)?.bytes ?? 0
    kept.delete(request)
  }

  /** Requests arrive nearly in the order in which they expire: what is dead lies at the front. */
  const dropExpired = (): void => {
    for (const [request, { entry }] of kept) {
      if (isFresh(entry)) return
      remove(request)
    }
  }

  return {
    find(request: string): KeptReply | null {
      const entry = kept.get(request)?.entry
      return entry !== undefined && isFresh(entry) ? entry : null
    },
    /** False, changing nothing, when there is no room. @param size of its line, in bytes */
    put(entry: KeptReply, size: number): boolean {
      dropExpired()
      if (bytes - (kept.get(entry.request)?.bytes ?? 0) + size > keptRepliesFreshBytesMax) return false
      remove(entry.request)
      kept.set(entry.request, { entry, bytes: size })
      bytes += size
      return true
    },
    drop(signer: string): void {
      for (const [request, { entry }] of kept) if (entry.signer === signer) remove(request)
    },
    all: (): KeptReply[] => [...kept.values()].map(({ entry }) => entry).filter(isFresh),
    bytes: () => bytes,
  }
}

const schemaLine = '{"schema":"drawbridge.replies.v1"}\n'

async function rewrite(disk: Disk, path: string, entries: KeptReply[]): Promise<AppendFile> {
  await disk.replace(path, piecesOf(entries))
  return await disk.openAppend(path)
}

/** The file a piece at a time: encoding tens of megabytes at once would hold up every other answer. */
function* piecesOf(entries: KeptReply[]): Iterable<Uint8Array> {
  let piece = schemaLine
  for (const entry of entries) {
    piece += lineOf(entry)
    if (piece.length < keptRepliesPieceCharacters) continue
    yield Buffer.from(piece)
    piece = ''
  }
  yield Buffer.from(piece)
}

function encodeLine(entry: KeptReply): Uint8Array {
  return Buffer.from(lineOf(entry))
}

function lineOf(entry: KeptReply): string {
  return `${JSON.stringify(entry)}\n`
}

function decode(bytes: Uint8Array | null): KeptReply[] {
  if (bytes === null) throw corrupt('host/replies.jsonl is missing from an initialised home')
  const whole = Buffer.from(bytes).subarray(0, bytes.lastIndexOf(0x0a) + 1)
  const [schema, ...lines] = whole.toString('utf8').split('\n').slice(0, -1)
  if (`${schema}\n` !== schemaLine) throw corrupt('host/replies.jsonl has another schema')
  return lines.map(decodeLine)
}

function decodeLine(line: string): KeptReply {
  try {
    const { value } = parseStrictJson(new TextEncoder().encode(line), { bytesMax: keptRepliesBytesMax })
    const parsed = keptReply.safeParse(value)
    if (parsed.success) return parsed.data
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
  throw corrupt('host/replies.jsonl has a line that does not read')
}

function corrupt(message: string): Refusal {
  return new Refusal('corrupt_store', message, {
    hint: 'put back the file from a backup',
  })
}
