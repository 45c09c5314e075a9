import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AccessBook, createAccessBook, openAccessBook } from '../../../src/bridge/access/book.ts'
import { addGrant } from '../../../src/bridge/access/grants.ts'
import { type HomePaths, homePaths } from '../../../src/bridge/paths.ts'
import { lastSeenSaveSeconds } from '../../../src/limits.ts'
import { Refusal } from '../../../src/protocol/refusal.ts'
import type { Disk } from '../../../src/seams/disk.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { grantEntry, id, keys, now } from '../../support/access.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { tempDir } from '../../support/temp-dir.ts'

const expected = { host: keys.host, owner: keys.owner }
const clock = fakeClock(now * 1000)
let paths: HomePaths

beforeEach(async () => {
  paths = homePaths(await tempDir())
  await realDisk.makeDirectory(paths.host)
  await createAccessBook(realDisk, paths, keys.host, keys.owner)
})

const open = (disk: Disk = realDisk): Promise<AccessBook> => openAccessBook(disk, clock, paths, expected)
const give = (book: AccessBook, grant: string): Promise<string> =>
  book.change((record, at) => ({ record: addGrant(record, grantEntry({ grant }), at), value: grant }))

describe('the access book', () => {
  it('is on disk, private, before a change resolves', async () => {
    const book = await open()
    expect(await give(book, id(1))).toBe(id(1))
    expect((await open()).read().grants.map((entry) => entry.grant.grant)).toEqual([id(1)])
  })

  it('changes one after another, each on what the last one left', async () => {
    const book = await open()
    await Promise.all([give(book, id(1)), give(book, id(2)), give(book, id(3))])
    const states = book.read().grants.map((entry) => [entry.grant.grant, entry.revoked_at !== null])
    expect(states).toEqual([
      [id(1), true],
      [id(2), true],
      [id(3), false],
    ])
  })

  it('sees what another process wrote before it changes anything', async () => {
    const one = await open()
    const other = await open()
    await give(one, id(1))
    await give(other, id(2))
    expect(other.read().grants).toHaveLength(2)
  })

  it('a rule that refuses changes nothing', async () => {
    const book = await open()
    const before = await readFile(paths.access, 'utf8')
    const refused = book.change(() => {
      throw new Refusal('forbidden', 'no')
    })
    await expect(refused).rejects.toMatchObject({ code: 'forbidden' })
    expect(await readFile(paths.access, 'utf8')).toBe(before)
    expect(await give(book, id(1))).toBe(id(1))
  })

  it('reads without what is to be dropped by now, and drops it from the file with the next write', async () => {
    const book = await open()
    const late = grantEntry({ grant: id(1), issued_at: now - 100, expires_at: now + 10 })
    await book.change((record, at) => ({ record: addGrant(record, late, at), value: undefined }))
    const before = await readFile(paths.access, 'utf8')
    clock.jump(69_000)
    expect(book.read().grants).toHaveLength(1)
    clock.jump(1_000)
    expect(book.read().grants).toEqual([])
    expect(await readFile(paths.access, 'utf8')).toBe(before)
    await book.change((record) => ({ record: { ...record }, value: undefined }))
    expect(await readFile(paths.access, 'utf8')).not.toContain(id(1))
    clock.jump(-70_000)
  })

  it('keeps last_seen in memory and saves it within a minute', async () => {
    const book = await open()
    await give(book, id(1))
    book.seen(id(1))
    expect(book.heardAt(id(1))).toBe(now)
    expect((await open()).read().grants[0]?.last_seen).toBe(null)
    await clock.advance(lastSeenSaveSeconds * 1000)
    await book.close()
    expect((await open()).read().grants[0]?.last_seen).toBe(now)
  })

  it('reads back what is on disk after a write that failed', async () => {
    let broken = false
    const failing: Disk = {
      ...realDisk,
      async replace(path, bytes) {
        if (broken) throw new Refusal('io', 'no room')
        await realDisk.replace(path, bytes)
      },
    }
    const book = await open(failing)
    await give(book, id(1))
    broken = true
    await expect(give(book, id(2))).rejects.toMatchObject({ code: 'io' })
    expect(book.read().grants.map((entry) => entry.grant.grant)).toEqual([id(1)])
    broken = false
    expect(await give(book, id(3))).toBe(id(3))
  })

  const damaged: [string, () => Promise<unknown>, string][] = [
    ['is missing', () => rm(paths.access), 'corrupt_store'],
    ['is empty', () => writeFile(paths.access, ''), 'corrupt_store'],
    [
      'is cut',
      async () => writeFile(paths.access, (await readFile(paths.access)).subarray(0, 40)),
      'corrupt_store',
    ],
    ['has an unknown field', () => rewrite((text) => text.replace('{', '{"more":1,')), 'corrupt_store'],
    ['has a field twice', () => rewrite((text) => text.replace('{', '{"host":"x",')), 'corrupt_store'],
    ['has another schema', () => rewrite((text) => text.replace('access.v1', 'access.v2')), 'corrupt_store'],
    [
      'belongs to another host',
      () => rewrite((text) => text.replace(keys.host, keys.tablet)),
      'corrupt_store',
    ],
    [
      'belongs to another owner',
      () => rewrite((text) => text.replace(keys.owner, keys.tablet)),
      'corrupt_store',
    ],
    ['can be read by others', () => chmod(paths.access, 0o644), 'unsafe_path'],
  ]
  for (const [name, damage, code] of damaged) {
    it(`refuses when its file ${name}, and leaves it`, async () => {
      await damage()
      const before = await readFile(paths.access).catch(() => null)
      await expect(open()).rejects.toMatchObject({ code })
      expect(await readFile(paths.access).catch(() => null)).toEqual(before)
    })
  }
})

async function rewrite(change: (text: string) => string): Promise<void> {
  await writeFile(paths.access, change(await readFile(paths.access, 'utf8')))
}
