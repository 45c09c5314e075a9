import { describe, expect, it } from 'vitest'
import { knownSignaturesMax } from '../../src/limits.ts'
import { isKnownSignature, rememberSignature } from '../../src/protocol/known-signatures.ts'
import { createSigner } from '../../src/protocol/signer.ts'

const signer = createSigner(`${'0'.repeat(62)}2b`)
const signed = (content: string) =>
  signer.sign({ kind: 3188, created_at: 1_795_000_000, tags: [['p', 'x']], content })

describe('signatures that this process knows', () => {
  it('are those that it made', () => {
    expect(isKnownSignature(signed('one'))).toBe(true)
  })

  it('are no licence for other content under the same id, or for another id, key or signature', () => {
    const event = signed('two')
    const other = signed('three')
    for (const field of ['id', 'pubkey', 'sig', 'content'] as const) {
      const value = field === 'pubkey' ? '0'.repeat(64) : other[field]
      expect(isKnownSignature({ ...event, [field]: value }), field).toBe(false)
    }
    for (const changes of [{ kind: 1 }, { created_at: 1 }, { tags: [] }]) {
      expect(isKnownSignature({ ...event, ...changes })).toBe(false)
    }
  })

  it('are forgotten, the oldest first, when there are too many', () => {
    const first = signed('first')
    const last = signed('last')
    for (let index = 0; index < knownSignaturesMax - 1; index += 1) {
      rememberSignature({ ...first, sig: index.toString(16).padStart(128, '0') })
    }
    expect(isKnownSignature(first)).toBe(false)
    expect(isKnownSignature(last)).toBe(true)
  })
})
