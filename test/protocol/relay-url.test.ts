import { describe, expect, it } from 'vitest'
import { checkRelayUrl } from '../../src/protocol/relay-url.ts'
import { refused } from '../support/refusals.ts'

describe('the production relay policy', () => {
  it.each([
    'wss://relay.example.net',
    'wss://relay.example.net/',
    'wss://relay.example.net:4848/path/to%20it',
    'wss://10.0.0.1/',
    'wss://[2001:db8::1]:7777/',
    'wss://localhost/',
    'wss://xn--bcher-kva.example/',
  ])('admits %s and leaves it as it is', (url) => {
    expect(checkRelayUrl(url, 'production')).toBe(url)
    expect(checkRelayUrl(url, 'loopback_test')).toBe(url)
  })

  it.each([
    '',
    'relay.example.net',
    'https://relay.example.net/',
    'ws://relay.example.net/',
    'WSS://relay.example.net/',
    'wss:relay.example.net',
    'wss://',
    'wss:///path',
    'wss://user@relay.example.net/',
    'wss://user:pass@relay.example.net/',
    'wss://@relay.example.net/',
    'wss://relay.example.net/?a=1',
    'wss://relay.example.net/?',
    'wss://relay.example.net/#top',
    'wss://relay.example.net/#',
    ' wss://relay.example.net/',
    'wss://relay.example.net/\n',
    'wss://relay.example.net/a b',
    'wss://relay.exa\tmple.net/',
    'wss://bücher.example/',
    'wss://relay.example.net/ü',
    'wss:\\\\relay.example.net/',
    'wss://relay.example.net\\@evil.example/',
    'wss://relay.example.net:99999/',
    'wss://[::1/',
    'wss://%zz/',
  ])('forbids %j under either policy', async (url) => {
    await refused('forbidden', () => checkRelayUrl(url, 'production'))
    const refusal = await refused('forbidden', () => checkRelayUrl(url, 'loopback_test'))
    expect(refusal.field).toBe('relay')
  })

  it('bounds the length in bytes', async () => {
    const url = (length: number) => `wss://r.example/${'x'.repeat(length - 16)}`
    expect(checkRelayUrl(url(2_048), 'production')).toHaveLength(2_048)
    await refused('forbidden', () => checkRelayUrl(url(2_049), 'production'))
    expect(checkRelayUrl(url(256), 'production', 256)).toHaveLength(256)
    await refused('forbidden', () => checkRelayUrl(url(257), 'production', 256))
  })
})

describe('the loopback test policy', () => {
  it.each(['ws://127.0.0.1:7000/', 'ws://127.0.0.1', 'ws://127.1.2.3:80/x', 'ws://[::1]:7000/'])(
    'admits %s, which production forbids',
    async (url) => {
      expect(checkRelayUrl(url, 'loopback_test')).toBe(url)
      await refused('forbidden', () => checkRelayUrl(url, 'production'))
    },
  )

  it.each([
    'ws://localhost:7000/',
    'ws://127.0.0.1.example.net/',
    'ws://128.0.0.1/',
    'ws://10.0.0.1/',
    'ws://0.0.0.0/',
    'ws://2130706433/',
    'ws://127.1/',
    'ws://[::2]/',
    'ws://[::ffff:127.0.0.1]/',
  ])('forbids %s', async (url) => {
    await refused('forbidden', () => checkRelayUrl(url, 'loopback_test'))
  })
})
