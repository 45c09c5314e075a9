import { expect, test } from 'vitest'
import { openContact } from '../../src/device/contact.ts'
import { nudgeEverySeconds } from '../../src/limits.ts'
import { Refusal } from '../../src/protocol/refusal.ts'
import { realDisk } from '../../src/store/disk.ts'
import { grantEntry, now } from '../support/access.ts'
import { tempDir } from '../support/temp-dir.ts'

const { grant } = grantEntry({ issued_at: now - 1_000, expires_at: now + 10 })

test('notes that another process holds keep no device from speaking, and let it nudge nobody', async () => {
  const dir = await tempDir()
  let isHeld = true
  const busy = new Refusal('store_busy', 'held by another process')
  const disk = {
    ...realDisk,
    lock: (...args: Parameters<typeof realDisk.lock>) =>
      isHeld ? Promise.reject(busy) : realDisk.lock(...args),
  }
  const contact = await openContact(disk, dir)
  await contact.speak(grant, now)
  expect(contact.spokenUnder(grant)).toEqual([])
  expect(await contact.mayNudge(now)).toBe(false)
  isHeld = false
  await contact.speak(grant, now)
  expect(contact.spokenUnder(grant)).toEqual([now])
  expect(await contact.mayNudge(now)).toBe(true)
  expect(await contact.mayNudge(now + nudgeEverySeconds - 1)).toBe(false)
})
