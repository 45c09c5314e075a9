import { describe, expect, it } from 'vitest'
import { checkOutcome } from '../../src/device/outcome-check.ts'
import { createConversationKeys } from '../../src/protocol/conversation-keys.ts'
import { openVerified } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { type Operation, type OperationKind, operationRows } from '../../src/protocol/operations.ts'
import type { Outcome } from '../../src/protocol/outcomes.ts'
import { refused } from '../support/refusals.ts'
import { host, now, phone, relay, request, outcomeRows as rows } from './outcome-rows.ts'

const keys = createConversationKeys(phone.secret, 4)

const check = (op: Operation, outcome: Outcome): void => {
  const body = {
    v: 'openagents.host-request.v1',
    requires: [],
    request,
    host: host.publicKey,
    grant: null,
    epoch: null,
    relay,
    issued_at: now,
    expires_at: now + 60,
    op,
  } as const
  const open = (event: NostrEvent) => openVerified(event, phone.publicKey, (peer) => keys.get(peer))
  checkOutcome(outcome, {
    self: phone.publicKey,
    open,
    request: { ...body, requires: [] },
    policy: 'production',
  })
}

describe('an outcome', () => {
  it('is checked for every operation that can succeed', () => {
    const kinds = Object.keys(operationRows) as OperationKind[]
    const able = kinds.filter((kind) => operationRows[kind].outcome !== null)
    expect([...new Set(rows.map(([op]) => op.kind))].sort()).toEqual(able.sort())
  })

  it.each(rows.map(([op, outcome]) => [op.kind, op, outcome] as const))(
    'of %s that names what was asked is taken',
    (_, op, outcome) => {
      expect(() => check(op, outcome)).not.toThrow()
    },
  )

  it.each(
    rows.flatMap(([op, , spoiled]) =>
      Object.entries(spoiled).map(([what, outcome]) => [op.kind, what, op, outcome] as const),
    ),
  )('of %s that is %s is ignored', async (_, __, op, outcome) => {
    await refused('malformed', () => check(op, outcome))
  })

  it('of one operation answers no other kind', async () => {
    for (const [op, good] of rows)
      for (const [, other] of rows)
        if (other.kind !== good.kind) await refused('malformed', () => check(op, other))
  })
})
