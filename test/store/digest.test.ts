import fc from 'fast-check'
import { describe, it } from 'vitest'
import * as portable from '../../src/protocol/digest.ts'
import { sha256Digest, sha256Hex } from '../../src/store/digest.ts'

describe('the digest of the store and the portable one', () => {
  it('say the same of every text, even one with half a pair, and of all bytes', () => {
    const inputs = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.uint8Array())
    fc.assert(
      fc.property(fc.oneof(inputs, fc.constant('\ud800x')), (input) => {
        return (
          sha256Hex(input) === portable.sha256Hex(input) &&
          sha256Digest(input) === portable.sha256Digest(input)
        )
      }),
    )
  })
})
