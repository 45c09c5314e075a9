import { describe, expect, it } from 'vitest'
import { parseBody } from '../../src/protocol/body.ts'
import { openVerified } from '../../src/protocol/envelope.ts'
import { encodeInvitation, parseInvitation } from '../../src/protocol/invitation.ts'
import { jcs } from '../../src/protocol/jcs.ts'
import { publicKeyOf } from '../../src/protocol/keys.ts'
import { conversationKey } from '../../src/protocol/nip44.ts'
import { bodyNameOf, hostFixtures, hostSecrets } from '../support/host-fixtures.ts'
import { refused } from '../support/refusals.ts'

const encoder = new TextEncoder()

describe('the shared wire fixtures', () => {
  it('name the keys of the scalars 11 to 14', () => {
    const derived = Object.entries(hostSecrets).map(([name, secret]) => [name, publicKeyOf(secret)])
    expect(Object.fromEntries(derived)).toEqual(hostFixtures.keys)
  })

  it('are whole: 44 valid bodies, 22 invalid ones, 3 events', () => {
    expect(Object.keys(hostFixtures.valid)).toHaveLength(44)
    expect(hostFixtures.invalid).toHaveLength(22)
    expect(hostFixtures.events).toHaveLength(3)
  })

  it.each(Object.entries(hostFixtures.valid))(
    'accept %s, which re-encodes to the same canonical bytes',
    (_name, body) => {
      expect(jcs(parseBody(bodyNameOf(body), body, 'production'))).toBe(jcs(body))
    },
  )

  it.each(Object.entries(hostFixtures.valid))('accept %s from its bytes', (_name, body) => {
    const bytes = encoder.encode(JSON.stringify(body, null, 2))
    expect(jcs(parseBody(bodyNameOf(body), bytes, 'production'))).toBe(jcs(body))
  })

  it.each(hostFixtures.invalid)('refuse "$name" with $code', async ({ schema, body, code }) => {
    await refused(code, () => parseBody(schema, body, 'production'))
    await refused(code, () => parseBody(schema, encoder.encode(JSON.stringify(body)), 'production'))
  })

  it.each(hostFixtures.events)('open "$name" to $opens_to, from both ends', ({ event, opens_to }) => {
    const fromHost = openVerified(event, hostFixtures.keys.host, (peer) =>
      conversationKey(hostSecrets.host, peer),
    )
    const fromPhone = openVerified(event, hostFixtures.keys.phone, (peer) =>
      conversationKey(hostSecrets.phone, peer),
    )
    expect(fromHost).toEqual(fromPhone)
    expect(fromHost.body).toEqual(hostFixtures.valid[opens_to])
    expect(fromHost.author).toBe(event.pubkey)
    expect(() => parseBody(bodyNameOf(fromHost.body), fromHost.body, 'production')).not.toThrow()
  })

  it('hold an invitation that parses and re-encodes to the same text', () => {
    const { code, id, ...rest } = hostFixtures.invitation
    const invitation = parseInvitation(code, 'production')
    expect(invitation).toEqual({ invitation: id, ...rest })
    expect(encodeInvitation(invitation)).toBe(code)
  })
})
