import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/protocol/operations.ts'
import { Refusal } from '../../src/protocol/refusal.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { realDisk } from '../../src/store/disk.ts'
import { testKey } from '../support/keys.ts'
import { quietBridge } from '../support/quiet-bridge.ts'
import { outcome, refusal } from '../support/results.ts'

const phone = testKey(13)
const create = (title: string): Operation => ({
  kind: 'task.create',
  task: { title, prompt: 'Sort the entries.', workspace: 'site' },
})

describe('a host whose disk fills up', () => {
  it.each([
    ['at once', 0],
    ['while it acts', 1],
  ])(
    '%s refuses a task as unavailable for good, and takes the next when there is room',
    async (_name, appends) => {
      const disk = fillingDisk()
      const bridge = await quietBridge({ disk: disk.disk })
      await bridge.enroll(phone)
      disk.fill(appends)
      const one = bridge.sign(phone, create('One'))
      bridge.deliver(one.event)
      const [answer] = await bridge.answers(one)
      if (answer === undefined) throw new Error('no answer')
      expect(refusal(bridge.open(one, answer).result)).toBe('unavailable')
      disk.empty()
      outcome(await bridge.ask(phone, create('Two')), 'dispatched')
      // What was refused stays refused, though its relay still has it.
      await bridge.stop()
      await bridge.start([one.event])
      await bridge.untilCounted('history')
      expect((await bridge.service().status()).tasks?.['queued']).toBe(1)
      await bridge.stop()
    },
  )
})

/** A disk that has room for so many more appended records and for no file that is written whole. */
function fillingDisk(): { disk: Disk; fill(appends: number): void; empty(): void } {
  let left = Number.POSITIVE_INFINITY
  const full = () => Promise.reject(new Refusal('io', 'there is no room'))
  return {
    disk: {
      ...realDisk,
      replace: (path, bytes, temporary) =>
        left === Number.POSITIVE_INFINITY ? realDisk.replace(path, bytes, temporary) : full(),
      async openAppend(path, options) {
        const file = await realDisk.openAppend(path, options)
        const append = (bytes: Uint8Array) => {
          left -= 1
          return left < 0 ? full() : file.append(bytes)
        }
        return { ...file, append }
      },
    },
    fill(appends) {
      left = appends
    },
    empty() {
      left = Number.POSITIVE_INFINITY
    },
  }
}
