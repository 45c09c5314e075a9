import { describe, expect, it } from 'vitest'
import type { RelayDocument } from '../../src/seams/relay-information.ts'
import { realDisk } from '../../src/store/disk.ts'
import { refused } from '../support/refusals.ts'
import { host, open, openPaired, task } from './device-stage.ts'

const said = (limitation: object): RelayDocument => ({
  ok: true,
  text: JSON.stringify({ limitation }),
  dateMs: null,
})
const long = { task, action: 'queue', text: 'x'.repeat(12_000), based_on: 1 } as const
const short = { ...long, text: 'x'.repeat(2_000) }

/** A paired device whose relay says this of itself, and how often it was asked. */
async function over(document: RelayDocument) {
  await openPaired(5_000)
  const asked: string[] = []
  const information = async (url: string) => {
    asked.push(url)
    return document
  }
  return { device: await open(5_000, realDisk, { information }), asked }
}

describe('a long request', () => {
  it('that its relay would not take is refused with the numbers, and not kept', async () => {
    const { device } = await over(said({ max_message_length: 16_384 }))
    const error = await device.command(long).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'bounds',
      message: expect.stringMatching(
        /^the signed request of \d+ bytes is over the 16374 that the relay takes$/,
      ),
    })
    expect([await device.outbox(), host.heard.length]).toEqual([[], 1])
    await refused('bounds', () =>
      device.create({ title: 'T', prompt: 'x'.repeat(12_000), workspace: 'demo' }),
    )
    expect(await device.command(short)).toMatchObject({ state: 'accepted' })
  })

  it.each([
    ['takes it', said({ max_message_length: 65_536 })],
    ['says nothing of its limits', said({})],
    ['has a document that does not read', { ok: true, text: '<html>', dateMs: null }],
    ['has no document', { ok: false, reason: 'HTTP 404' }],
    ['says what nobody can believe', said({ max_message_length: 1 })],
  ] as const)('is sent over a relay that %s', async (_, document) => {
    const { device, asked } = await over(document)
    expect(await device.command(long)).toMatchObject({ state: 'accepted' })
    expect(asked).toHaveLength(1)
  })
})

describe('a short request', () => {
  it('is sent without asking what the relay takes', async () => {
    const { device, asked } = await over(said({ max_message_length: 16_384 }))
    expect(await device.command(short)).toMatchObject({ state: 'accepted' })
    expect(asked).toEqual([])
  })
})
