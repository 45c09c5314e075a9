import { describe, expect, it } from 'vitest'
import { createPeerKeys } from '../../src/bridge/peer-keys.ts'
import { strangerKeysMax } from '../../src/limits.ts'
import { testKey } from '../support/keys.ts'

const host = testKey(11)
const phone = testKey(13)

describe('the keys of strangers', () => {
  it('never push out that of a device, and are few', () => {
    const keys = createPeerKeys(host.secret, (peer) => peer === phone.publicKey)
    // A key that is derived anew is another object of the same bytes.
    const kept = keys.get(phone.publicKey)
    const first = keys.get(testKey(1_000).publicKey)
    for (let index = 1; index <= strangerKeysMax; index += 1) keys.get(testKey(1_000 + index).publicKey)
    expect(keys.get(phone.publicKey)).toBe(kept)
    expect(keys.get(testKey(1_000).publicKey)).not.toBe(first)
    expect(keys.get(testKey(1_000).publicKey)).toEqual(first)
  })

  it('of a peer that becomes known, or is forgotten, is derived anew', () => {
    let known = false
    const keys = createPeerKeys(host.secret, () => known)
    const before = keys.get(phone.publicKey)
    known = true
    const after = keys.get(phone.publicKey)
    expect([after === before, keys.get(phone.publicKey) === after]).toEqual([false, true])
    keys.drop(phone.publicKey)
    expect(keys.get(phone.publicKey)).not.toBe(after)
  })
})
