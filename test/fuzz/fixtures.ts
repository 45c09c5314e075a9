import type { JsonObject } from '../../src/protocol/json-value.ts'
import { hostFixtures, requestWith } from '../support/host-fixtures.ts'

const thread = '0e'.repeat(16)

/** Operations of the protocol that the wire fixtures have no request for. */
const others: Readonly<Record<string, unknown>> = {
  request_thread_read: { kind: 'thread.read', thread, before: null },
  request_thread_send: { kind: 'thread.send', thread, request: '0f'.repeat(16), text: 'Good evening.' },
  request_thread_stop: { kind: 'thread.stop', thread, request: null },
  request_thread_run: { kind: 'thread.run', thread },
  request_spend_list: { kind: 'spend.list', grant: { limit: 5, unit: { name: 'cent' } } },
  request_spend_settle: { kind: 'spend.settle', receipt: { paid: [1, 2] } },
}

/** Every body that is fuzzed, valid as it is, by its name. */
export const fuzzedBodies: Readonly<Record<string, JsonObject>> = {
  ...hostFixtures.valid,
  ...Object.fromEntries(Object.entries(others).map(([name, op]) => [name, requestWith(op)])),
}
