import { describe, expect, it } from 'vitest'
import { devicesAnswer } from '../../src/cli/access-answers.ts'
import { localTime } from '../../src/cli/output.ts'
import { id, now } from '../support/access.ts'

const entry = (changes: object) => ({
  device: id(1),
  state: 'active',
  rights: ['observe', 'operate'],
  origin: 'invitation',
  issued_at: now,
  expires_at: now + 4_000,
  last_seen: now + 5,
  ...changes,
})
/** The lines under the head, as their cells. */
const lines = (found: Parameters<typeof devicesAnswer>[0]) =>
  devicesAnswer(found)
    .text.trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ {2,}/))

describe('the list of devices', () => {
  it('says of each grant how its device was let in, until when, and when it was heard', () => {
    const approved = entry({ device: id(2), origin: 'approval', rights: ['observe'], last_seen: null })
    expect(lines([entry({}), approved])).toEqual([
      [id(1), 'active', 'observe,operate', 'invitation', localTime(now + 4_000), localTime(now + 5)],
      [id(2), 'active', 'observe', 'approval', localTime(now + 4_000), 'never'],
    ])
  })

  it('calls a grant renewed that goes on beside its renewal, and no other one', () => {
    const renewal = entry({ issued_at: now + 3_000, expires_at: now + 7_000, last_seen: null })
    const other = entry({ device: id(2), issued_at: now - 50 })
    const dead = entry({ state: 'revoked', issued_at: now - 90 })
    expect(lines([renewal, entry({}), other, dead]).map(([, state]) => state)).toEqual([
      'active',
      'renewed',
      'active',
      'revoked',
    ])
  })

  it('is the same for a program, and nothing more', () => {
    const found = [entry({}), entry({ issued_at: now + 9 })]
    expect(devicesAnswer(found).json).toEqual({ devices: found })
    expect(devicesAnswer([])).toEqual({ json: { devices: [] }, text: 'no devices\n' })
  })
})
