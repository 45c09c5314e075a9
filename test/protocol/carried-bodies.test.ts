import { describe, expect, it } from 'vitest'
import { parseBody } from '../../src/protocol/body.ts'
import { encodeInvitation } from '../../src/protocol/invitation.ts'
import type { JsonObject } from '../../src/protocol/json-value.ts'
import { hostFixtures, validBody } from '../support/host-fixtures.ts'
import { refused } from '../support/refusals.ts'

describe('the saved access of a device', () => {
  const event = hostFixtures.events[1]?.event
  const access: JsonObject = {
    v: 'openagents.host-access.v1',
    requires: [],
    grant: validBody('grant'),
    authorization: structuredClone(event) as unknown as JsonObject,
  }

  it('holds the grant and the event by which it came', () => {
    expect(parseBody('access', access, 'production')).toEqual(access)
  })

  it('is held to the rules of both', async () => {
    const bad = { ...access, grant: { ...validBody('grant'), relay: 'ws://r.example/' } }
    await refused('forbidden', () => parseBody('access', bad, 'production'))
    await refused('malformed', () =>
      parseBody('access', { ...access, authorization: { ...event, sig: 'ab' } }, 'production'),
    )
    await refused('unsupported', () =>
      parseBody('access', { ...access, v: 'openagents.host-access.v2' }, 'production'),
    )
  })
})

describe('a reply that carries an invitation', () => {
  const { code, id, expires_at } = hostFixtures.invitation
  const reply = (outcome: JsonObject): JsonObject => ({
    ...validBody('reply_conflict'),
    result: { status: 'ok', outcome },
  })

  it('is accepted when its code is that invitation', () => {
    const body = reply({ kind: 'invitation', invitation: id, code, expires_at })
    expect(parseBody('reply', body, 'production')).toEqual(body)
  })

  it('is malformed when its code is another, and forbidden when its relay is', async () => {
    await refused('malformed', () =>
      parsed(reply({ kind: 'invitation', invitation: '0'.repeat(64), code, expires_at })),
    )
    await refused('malformed', () =>
      parsed(reply({ kind: 'invitation', invitation: id, code, expires_at: expires_at + 1 })),
    )
    await refused('malformed', () =>
      parsed(reply({ kind: 'invitation', invitation: id, code: 'coder-host:AX', expires_at })),
    )
    const { code: _code, id: invitation, ...rest } = hostFixtures.invitation
    const loopback = encodeInvitation({ ...rest, invitation, relay: 'ws://127.0.0.1:1/' })
    await refused('forbidden', () =>
      parsed(reply({ kind: 'invitation', invitation: id, code: loopback, expires_at })),
    )
  })
})

function parsed(body: JsonObject): unknown {
  return parseBody('reply', body, 'production')
}
