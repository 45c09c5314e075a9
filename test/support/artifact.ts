import type { NostrEvent } from '../../src/protocol/event.ts'
import type { TestKey } from './keys.ts'

let count = 0

/** An event that looks like a private artifact from one key to another. Each is different. */
export function artifact(
  from: TestKey,
  to: string,
  changes: { createdAt?: number; mailbox?: string; content?: string } = {},
): NostrEvent {
  count += 1
  return from.signer.sign({
    kind: 3188,
    created_at: changes.createdAt ?? Math.floor(Date.now() / 1000),
    tags: [
      ['p', to],
      ['h', changes.mailbox ?? count.toString(16).padStart(64, '0')],
      ['t', 'oa:artifact:v1'],
    ],
    content: changes.content ?? `sealed ${count}`,
  })
}
