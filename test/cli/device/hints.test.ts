import { describe, expect, it } from 'vitest'
import { hinted } from '../../../src/cli/device/hints.ts'
import { Refusal } from '../../../src/protocol/refusal.ts'
import { checkRelayUrl } from '../../../src/protocol/relay-url.ts'

const refused = (asked: Parameters<typeof hinted>[0], run: () => unknown) =>
  hinted(asked, undefined, async () => run()).catch((error: unknown) => error)

describe('what to do about a refusal', () => {
  it.each(['create', 'look', 'accept', 'access'] as const)(
    'for a relay that may not be dialled is about the relay, also when one asks to %s',
    async (asked) => {
      const error = await refused(asked, () => checkRelayUrl('ws://127.0.0.1:7777', 'production'))
      expect(error).toMatchObject({ code: 'forbidden', hint: expect.stringContaining('--loopback-test') })
    },
  )

  it('for what the host forbids is about what was asked', async () => {
    const error = await refused('create', () => {
      throw new Refusal('forbidden', 'no')
    })
    expect(error).toMatchObject({ hint: expect.stringContaining('workspace list') })
  })

  it.each(['op.task', 'op.command.task'])(
    'for a task that is named in short, at %s, is where to find it',
    async (field) => {
      const error = await refused('queue', () => {
        throw new Refusal('malformed', 'no', { field })
      })
      expect(error).toMatchObject({ hint: expect.stringContaining('drawbridge device tasks') })
    },
  )

  it('for rights that an approver lacks is to name fewer', async () => {
    const error = await refused('approve', () => {
      throw new Refusal('missing_right', 'no', { missing: 'observe' })
    })
    expect(error).toMatchObject({ missing: 'observe', hint: expect.stringContaining('--rights') })
  })
})
