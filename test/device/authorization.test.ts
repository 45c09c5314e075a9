import { describe, expect, it } from 'vitest'
import { renews } from '../../src/device/authorization.ts'
import type { Grant } from '../../src/protocol/bodies/grant.ts'
import { testKey } from '../support/keys.ts'

const held: Grant = {
  v: 'openagents.host-grant.v1',
  requires: [],
  grant: '1a'.repeat(32),
  host: testKey(11).publicKey,
  owner: testKey(12).publicKey,
  device: testKey(13).publicKey,
  relay: 'wss://relay.example.net/',
  rights: ['observe', 'operate'],
  epoch: 2,
  origin: { kind: 'invitation', id: '2b'.repeat(32), issuer: testKey(11).publicKey },
  issued_at: 100,
  expires_at: 200,
}
const next: Grant = { ...held, grant: '1b'.repeat(32), issued_at: 180, expires_at: 280 }

describe('a renewal', () => {
  it('is the same terms under a new ID, good for longer', () => {
    expect(renews(next, held)).toBe(true)
    expect(renews({ ...next, issued_at: 100 }, held)).toBe(true)
  })

  it.each<[string, Partial<Grant>]>([
    ['its ID', { grant: held.grant }],
    ['the host', { host: testKey(20).publicKey }],
    ['the owner', { owner: testKey(20).publicKey }],
    ['the device', { device: testKey(20).publicKey }],
    ['the relay', { relay: 'wss://other.example.net/' }],
    ['more rights', { rights: ['observe', 'operate', 'terminal'] }],
    ['fewer rights', { rights: ['observe'] }],
    ['the epoch', { epoch: 3 }],
    ['the origin', { origin: { ...held.origin, id: '3c'.repeat(32) } }],
    ['an earlier issue', { issued_at: 99 }],
    ['no later expiry', { expires_at: 200 }],
  ])('is not one with %s', (_, changes) => {
    expect(renews({ ...next, ...changes }, held)).toBe(false)
  })
})
