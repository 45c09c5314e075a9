import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Invitation, parseInvitation } from '../../src/protocol/invitation.ts'
import { isRefusal } from '../../src/protocol/refusal.ts'
import { fuzzCases } from '../support/fuzz-cases.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import { hostFixtures } from '../support/host-fixtures.ts'
import { byteEdit, editedBytes } from './mutate-bytes.ts'
import { key, relayUrl } from './rules/rule.ts'

const cases = fuzzCases('invitations')
const { code } = hostFixtures.invitation
const prefix = 'coder-host:'
const whole = Buffer.from(code.slice(prefix.length), 'base64url')
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

function read(text: string): Invitation | string {
  try {
    return parseInvitation(text, 'production')
  } catch (error) {
    if (!isRefusal(error)) throw error
    return error.code
  }
}

/** What a string says, read a second way: by its places alone. */
function judge(text: string): Invitation | string {
  const encoded = text.slice(prefix.length)
  const bytes = Buffer.from(encoded, 'base64url')
  const fits = text.startsWith(prefix) && text.length <= 640 && bytes.toString('base64url') === encoded
  if (!fits || bytes.length < 116 || bytes[0] !== 1) return 'malformed'
  const hex = (from: number) => bytes.subarray(from, from + 32).toString('hex')
  const [issued, expires] = [bytes.readBigUInt64BE(97), bytes.readBigUInt64BE(105)]
  const length = bytes.readUInt16BE(113)
  if (length < 1 || length > 256 || bytes.length !== 115 + length || key(hex(1)) !== 'ok') return 'malformed'
  if (expires !== issued + 300n || expires > BigInt(Number.MAX_SAFE_INTEGER)) return 'malformed'
  const relay = bytes.subarray(115).toString('latin1')
  if (relayUrl('production')(relay) !== 'ok') return 'forbidden'
  const [issued_at, expires_at] = [Number(issued), Number(expires)]
  return { host: hex(1), invitation: hex(33), capability: hex(65), issued_at, expires_at, relay }
}

function compare(text: string): void {
  expect(read(text)).toEqual(judge(text))
  cases.ran()
}

describe('an invitation', () => {
  it('whose bytes were damaged and encoded again is read by its places or refused', () => {
    const places = fc.constantFrom(0, 1, 33, 65, 97, 104, 105, 112, 113, 114, 115, 120)
    fc.assert(
      fc.property(
        fc.array(byteEdit, { maxLength: 2 }),
        fc.option(fc.tuple(places, fc.nat(255)), { nil: undefined }),
        fc.constantFrom(0, 1, 256, 300, 1_000),
        (edits, set, later) => {
          const bytes = Buffer.from(editedBytes(whole, edits, [whole]))
          if (set !== undefined && set[0] < bytes.length) bytes[set[0]] = set[1]
          if (later > 0 && bytes.length > 113) {
            bytes.writeBigUInt64BE(BigInt(hostFixtures.now + later), 97)
            bytes.writeBigUInt64BE(BigInt(hostFixtures.now + later + 300), 105)
          }
          compare(prefix + bytes.toString('base64url'))
        },
      ),
      { numRuns: fuzzRuns(300) },
    )
  })

  it('whose text was changed is read only where it is the exact encoding', () => {
    fc.assert(
      fc.property(
        fc.nat(code.length),
        fc.oneof(fc.constantFrom('', '=', '+', '/', ' ', '\n', 'é', prefix), fc.constantFrom(...alphabet)),
        fc.nat(2),
        (at, insert, cut) => compare(code.slice(0, at) + insert + code.slice(at + cut)),
      ),
      { numRuns: fuzzRuns(300) },
    )
  })

  it('with another relay is read or refused for it', () => {
    const relay = fc.oneof(
      fc.constantFrom(
        'wss://a',
        'ws://127.0.0.1:7',
        'wss://a/b?c',
        'wss://u@a',
        'wss://a b',
        'wss://a#',
        'WSS://a',
        'wss:/a',
        'wss://[::1]:9/',
      ),
      fc.webUrl({ validSchemes: ['wss', 'ws', 'https'], withFragments: true, withQueryParameters: true }),
      fc.integer({ min: 1, max: 300 }).map((length) => `wss://a/${'b'.repeat(length)}`.slice(0, length)),
    )
    fc.assert(
      fc.property(relay, (url) => {
        const bytes = Buffer.concat([whole.subarray(0, 115), Buffer.from(url)])
        bytes.writeUInt16BE(bytes.length - 115, 113)
        compare(prefix + bytes.toString('base64url'))
      }),
      { numRuns: fuzzRuns(200) },
    )
  })
})
