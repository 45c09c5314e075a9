import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromBase64Url, toBase64Url } from '../../src/protocol/base64.ts'
import { encodeInvitation, type Invitation, parseInvitation } from '../../src/protocol/invitation.ts'
import { hostFixtures } from '../support/host-fixtures.ts'
import { refused } from '../support/refusals.ts'

const { code } = hostFixtures.invitation
const bytes = () => fromBase64Url(code.slice('coder-host:'.length))
const text = (data: Uint8Array) => `coder-host:${toBase64Url(data)}`
const valid = parseInvitation(code, 'production')
const hex64 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((data) => Buffer.from(data).toString('hex'))

/** The bytes of the fixture with some overwritten. */
function spoiled(at: number, ...values: number[]): string {
  const data = bytes()
  data.set(values, at)
  return text(data)
}

describe('an invitation string', () => {
  it('round-trips', () => {
    const invitations = fc.record({
      host: fc.constantFrom(...Object.values(hostFixtures.keys)),
      invitation: hex64,
      capability: hex64,
      issued_at: fc.nat(4_000_000_000),
      relay: fc.stringMatching(/^[a-z0-9/._-]{1,240}$/).map((path) => `wss://r.example/${path}`),
    })
    fc.assert(
      fc.property(invitations, (rest) => {
        const invitation: Invitation = { ...rest, expires_at: rest.issued_at + 300 }
        const encoded = encodeInvitation(invitation)
        expect(encoded.length).toBeLessThanOrEqual(640)
        expect(parseInvitation(encoded, 'production')).toEqual(invitation)
      }),
    )
  })

  it('holds a relay of 256 bytes and no more', async () => {
    const relay = (length: number) => `wss://r.example/${'x'.repeat(length - 16)}`
    const longest = { ...valid, relay: relay(256) }
    expect(parseInvitation(encodeInvitation(longest), 'production')).toEqual(longest)
    await refused('malformed', () => encodeInvitation({ ...valid, relay: relay(257) }))
    const data = Uint8Array.from([...bytes().subarray(0, 113), 1, 1, ...Buffer.from(relay(257))])
    await refused('malformed', () => parseInvitation(text(data), 'production'))
  })

  it.each([
    ['nothing', ''],
    ['another scheme', code.replace('coder-host:', 'coder-peer:')],
    ['white space around it', ` ${code}`],
    ['padding', `${code}=`],
    ['the other base64 alphabet', code.replace('_', '/')],
    ['stray bits in its last character', `${code.slice(0, -1)}x`],
    ['a cut end', code.slice(0, -4)],
    ['a trailing byte', text(Uint8Array.from([...bytes(), 0x2f]))],
    ['no relay', text(Uint8Array.from([...bytes().subarray(0, 113), 0, 0]))],
    ['only a head', text(bytes().subarray(0, 60))],
    ['another version', spoiled(0, 2)],
    ['a host that is no point of the curve', spoiled(1, ...new Array(32).fill(0xff))],
    ['a lifetime of 299 seconds', spoiled(112, (bytes()[112] ?? 0) - 1)],
    ['a lifetime of 301 seconds', spoiled(112, (bytes()[112] ?? 0) + 1)],
    ['times beyond the safe integers', spoiled(97, 0xff, 0xff, 0xff)],
    ['a relay length that is not the relay’s', spoiled(113, 0, 25)],
    ['more than 640 bytes', `coder-host:${'A'.repeat(640)}`],
  ])('is malformed with %s', async (_name, string) => {
    const refusal = await refused('malformed', () => parseInvitation(string, 'production'))
    expect(refusal.message).not.toContain('nJyc')
  })

  it('is forbidden for a relay outside the policy', async () => {
    const loopback = encodeInvitation({ ...valid, relay: 'ws://127.0.0.1:7000/' })
    await refused('forbidden', () => parseInvitation(loopback, 'production'))
    expect(parseInvitation(loopback, 'loopback_test').relay).toBe('ws://127.0.0.1:7000/')
    await refused('forbidden', () => parseInvitation(spoiled(bytes().length - 1, 0x3f), 'production'))
    await refused('forbidden', () => parseInvitation(spoiled(bytes().length - 1, 0xff), 'production'))
  })

  it.each([
    ['an ID in upper case', { invitation: 'AB'.repeat(32) }],
    ['a short capability', { capability: 'ab' }],
    ['a host that is no key', { host: '0'.repeat(64) }],
    ['another lifetime', { expires_at: valid.issued_at + 60 }],
    ['a time before 1970', { issued_at: -300, expires_at: 0 }],
    ['a fractional time', { issued_at: 0.5, expires_at: 300.5 }],
    ['no relay', { relay: '' }],
  ])('is never written with %s', async (_name, changes) => {
    await refused('malformed', () => encodeInvitation({ ...valid, ...changes }))
  })
})
