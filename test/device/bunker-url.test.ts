import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseBunkerUrl } from '../../src/device/remote-signer/bunker-url.ts'
import { isRefusal } from '../../src/protocol/refusal.ts'
import { testKey } from '../support/keys.ts'
import { refused } from '../support/refusals.ts'

const remote = testKey(21).publicKey
const relay = 'wss://relay.example.net/'
const url = (query: string, key = remote): string => `bunker://${key}?${query}`

describe('the address of a remote signer', () => {
  it('names its key, its relays and the secret that lets a client in', () => {
    const two = `relay=${encodeURIComponent(relay)}&relay=wss%3A%2F%2Fother.example.net&secret=a%20b&name=x`
    expect(parseBunkerUrl(url(two), 'production')).toEqual({
      remote,
      relays: [relay, 'wss://other.example.net'],
      secret: 'a b',
    })
  })

  it('may leave the secret out, and its relays may be written as they are', () => {
    expect(parseBunkerUrl(url(`relay=${relay}`), 'production')).toEqual({
      remote,
      relays: [relay],
      secret: null,
    })
    expect(parseBunkerUrl(url(`relay=${relay}&relay=${relay}&secret=`), 'production').relays).toEqual([relay])
  })

  it('may be on this computer only where that is allowed', async () => {
    const local = url('relay=ws://127.0.0.1:7777&secret=s')
    expect(parseBunkerUrl(local, 'loopback_test').relays).toEqual(['ws://127.0.0.1:7777'])
    await refused('forbidden', () => parseBunkerUrl(local, 'production'))
  })

  it.each([
    ['another scheme', url(`relay=${relay}`).replace('bunker', 'nostrconnect')],
    ['no key', `bunker://?relay=${relay}`],
    ['a key that is no point', url(`relay=${relay}`, 'f'.repeat(64))],
    ['no relay', url('secret=s3cret')],
    [
      'too many relays',
      url(Array.from({ length: 5 }, (_, at) => `relay=wss://r${at}.example.net`).join('&')),
    ],
    ['two secrets', url(`relay=${relay}&secret=a&secret=b`)],
    ['an endless secret', url(`relay=${relay}&secret=${'s'.repeat(1_025)}`)],
    ['an endless address', url(`relay=${relay}&name=${'n'.repeat(8_192)}`)],
    ['two lines', `${url(`relay=${relay}`)}\n`],
  ])('is refused with %s', async (_, text) => {
    await refused('malformed', () => parseBunkerUrl(text, 'production'))
  })

  it('is never shown by a refusal, however it is broken', () => {
    const secret = 'hunter2hunter2'
    const good = url(`relay=${relay}&secret=${secret}`)
    fc.assert(
      fc.property(fc.nat(good.length), fc.nat(20), fc.string({ maxLength: 5 }), (at, cut, put) => {
        try {
          parseBunkerUrl(good.slice(0, at) + put + good.slice(at + cut), 'production')
        } catch (error) {
          expect(isRefusal(error)).toBe(true)
          const told = JSON.stringify([error, (error as Error).message, String(error)])
          expect(told).not.toContain(remote.slice(0, 16))
          expect(told).not.toContain(secret.slice(0, 7))
        }
      }),
    )
  })
})
