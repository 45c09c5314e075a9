import { appendFile, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createKeptReplies, type KeptReply, openKeptReplies } from '../../src/bridge/kept-replies.ts'
import { silentLog } from '../../src/bridge/log.ts'
import { keptRepliesBytesMax, keptRepliesCompactBytes } from '../../src/limits.ts'
import { Refusal } from '../../src/protocol/refusal.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { realDisk } from '../../src/store/disk.ts'
import { id, keys, now, someEvent } from '../support/access.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { tempDir } from '../support/temp-dir.ts'

let path: string
let clock: FakeClock

beforeEach(async () => {
  path = join(await tempDir(), 'replies.jsonl')
  clock = fakeClock(now * 1000)
  await createKeptReplies(realDisk, path)
})

const open = (epoch = 0, disk: Disk = realDisk) =>
  openKeptReplies({ disk, clock, log: silentLog }, path, () => epoch)
const reply = (byte: number, changes: Partial<KeptReply> = {}): KeptReply => ({
  request: id(byte),
  request_event: id(byte + 1),
  signer: keys.phone,
  epoch: 0,
  expires_at: now + 60,
  reply: someEvent(byte),
  ...changes,
})
const linesOf = async () => (await readFile(path, 'utf8')).trimEnd().split('\n')

describe('kept replies', () => {
  it('a saved one survives a restart, byte for byte', async () => {
    const first = await open()
    await first.save(reply(1, { reply: null }))
    await first.save(reply(1))
    const second = await open()
    expect(second.find(id(1))).toEqual(reply(1))
    expect(second.size()).toBe(1)
  })

  it('a riding one costs no write of its own and goes with the next', async () => {
    const replies = await open()
    replies.ride(reply(1))
    expect(replies.find(id(1))).toEqual(reply(1))
    expect(await linesOf()).toHaveLength(1)
    await replies.save(reply(3))
    expect(await linesOf()).toHaveLength(3)
  })

  it('a riding one is written at the end', async () => {
    const replies = await open()
    replies.ride(reply(1))
    await replies.close()
    expect((await open()).find(id(1))).toEqual(reply(1))
  })

  it('saves that arrive while one is syncing share the next write', async () => {
    let appends = 0
    const counting: Disk = {
      ...realDisk,
      async openAppend(file, options) {
        const opened = await realDisk.openAppend(file, options)
        return {
          ...opened,
          append(bytes) {
            appends += 1
            return opened.append(bytes)
          },
        }
      },
    }
    const replies = await open(0, counting)
    const first = replies.save(reply(1))
    await Promise.resolve()
    await Promise.resolve()
    await Promise.all([first, ...[3, 5, 7, 9, 11].map((byte) => replies.save(reply(byte)))])
    expect(appends).toBe(2)
    expect((await open()).size()).toBe(6)
  })

  it('forgets what has expired, in memory and on the next start', async () => {
    const replies = await open()
    await replies.save(reply(1))
    await clock.advance(60_000)
    expect(replies.find(id(1))).toBe(null)
    await replies.close()
    await open()
    expect(await linesOf()).toHaveLength(1)
  })

  it('drops what a revoked device was answered, also after a restart', async () => {
    const replies = await open()
    await replies.save(reply(1))
    await replies.save(reply(3, { signer: keys.tablet, epoch: 1 }))
    replies.drop(keys.phone)
    expect([replies.find(id(1)), replies.find(id(3))?.signer]).toEqual([null, keys.tablet])
    const restarted = await open(1)
    expect([restarted.find(id(1)), restarted.find(id(3))?.signer]).toEqual([null, keys.tablet])
  })

  it('a failed save reaches its caller, and the identity stays so that a retry is the same', async () => {
    const failing: Disk = {
      ...realDisk,
      async openAppend(file, options) {
        const opened = await realDisk.openAppend(file, options)
        return { ...opened, append: () => Promise.reject(new Refusal('io', 'no room')) }
      },
    }
    const replies = await open(0, failing)
    await expect(replies.save(reply(1, { reply: null }))).rejects.toMatchObject({ code: 'io' })
    expect(replies.find(id(1))).toMatchObject({ reply: null })
  })

  it('rewrites its file when most of it is dead', async () => {
    const replies = await open()
    const big = { ...someEvent(1), content: 'x'.repeat(48_000) }
    for (let index = 0; index < 100; index += 1) {
      const request = index.toString(16).padStart(64, '0')
      await replies.save(reply(1, { request, expires_at: now + 60 + index, reply: big }))
    }
    await clock.advance(158_000)
    await replies.save(reply(3, { expires_at: now + 400 }))
    const bytes = (await readFile(path)).length
    expect(bytes).toBeLessThan(keptRepliesCompactBytes)
    await replies.save(reply(5, { expires_at: now + 400 }))
    const again = await open()
    expect([again.find(id(3)) !== null, again.find(id(5)) !== null]).toEqual([true, true])
  })

  it('a rewrite that found no room is made up for by the next save, however small', async () => {
    let isFull = false
    const filling: Disk = {
      ...realDisk,
      replace: (file, bytes, temporary) =>
        isFull ? Promise.reject(new Refusal('io', 'no room')) : realDisk.replace(file, bytes, temporary),
    }
    const replies = await open(0, filling)
    const big = { ...someEvent(1), content: 'x'.repeat(100_000) }
    const save = () => replies.save(reply(1, { reply: big }))
    isFull = true
    const untilFull = async () => {
      for (let saves = 0; saves < 100; saves += 1) await save()
    }
    await expect(untilFull()).rejects.toMatchObject({ code: 'io' })
    isFull = false
    await replies.save(reply(200, { reply: null }))
    await replies.close()
    expect((await open()).find(id(200))).toMatchObject({ reply: null })
  })

  it('keeps what is saved while a rewrite of many pieces is under way', async () => {
    const during: Promise<unknown>[] = []
    let piecesMost = 0
    const answer = { ...someEvent(1), content: 'x'.repeat(1_000) }
    const save = (index: number) =>
      replies.save(reply(1, { request: index.toString(16).padStart(64, '0'), reply: answer }))
    const watched: Disk = {
      ...realDisk,
      async replace(file, content, options) {
        let pieces = 0
        function* counted() {
          for (const piece of content as Iterable<Uint8Array>) {
            pieces += 1
            if (pieces > 1) during.push(save(1_000_000 + during.length))
            yield piece
          }
        }
        await realDisk.replace(file, counted(), options)
        piecesMost = Math.max(piecesMost, pieces)
      },
    }
    const replies = await open(0, watched)
    // Each is kept three times: what the file had of it before is dead.
    for (let index = 0; index < 9_000; index += 500) {
      await Promise.all(Array.from({ length: 500 }, (_, one) => save((index + one) % 3_000)))
    }
    await Promise.all(during)
    await replies.close()
    expect(piecesMost).toBeGreaterThan(50)
    expect((await open()).size()).toBe(3_000 + during.length)
  })

  it('never lets its file pass 64 MiB, however much is fresh, and then refuses rate_limited', async () => {
    const replies = await open()
    const large = { ...someEvent(1), content: 'x'.repeat(400_000) }
    const save = (index: number) =>
      replies.save(reply(1, { request: index.toString(16).padStart(64, '0'), reply: large }))
    let kept = 0
    const full = async () => {
      for (; kept < 400; kept += 1) {
        await save(kept)
        // Answers that were kept once more: what the file had of them before is dead.
        if (kept % 2 === 0) await save(kept)
        expect((await stat(path)).size).toBeLessThanOrEqual(keptRepliesBytesMax)
      }
    }
    await expect(full()).rejects.toMatchObject({ code: 'rate_limited' })
    expect(kept * 400_000).toBeGreaterThan(keptRepliesBytesMax / 2)
    await replies.close()
    expect((await open()).size()).toBe(kept)
    expect((await stat(path)).size).toBeLessThanOrEqual(keptRepliesBytesMax)
  })

  it('a last line that a crash tore is left out', async () => {
    await (await open()).save(reply(1))
    await appendFile(path, '{"request":"')
    expect((await open()).size()).toBe(1)
    expect(await linesOf()).toHaveLength(2)
  })

  const damaged: [string, () => Promise<unknown>][] = [
    ['is missing', () => rm(path)],
    ['is empty', () => writeFile(path, '')],
    ['has another schema', () => writeFile(path, '{"schema":"drawbridge.replies.v9"}\n')],
    ['has a line that does not read', () => appendFile(path, '{"request":1}\n')],
  ]
  for (const [name, damage] of damaged) {
    it(`refuses corrupt_store when its file ${name}`, async () => {
      await damage()
      await expect(open()).rejects.toMatchObject({ code: 'corrupt_store' })
    })
  }
})
