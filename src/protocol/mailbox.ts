import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { sha256Hex } from './digest.ts'

/** Where nudges between two keys wait. @see spec/wire.md §2 */
export function nudgeMailbox(conversationKey: Uint8Array): string {
  return mailbox('openagents.host-mailbox.nudges.v1', conversationKey)
}

/** Where a host's presence for one device waits. @see spec/wire.md §2 */
export function presenceMailbox(conversationKey: Uint8Array): string {
  return mailbox('openagents.host-mailbox.presence.v1', conversationKey)
}

/** Where activity summaries for one device wait. @see spec/wire.md §2 */
export function summaryMailbox(conversationKey: Uint8Array): string {
  return mailbox('openagents.host-mailbox.summaries.v1', conversationKey)
}

function mailbox(label: string, conversationKey: Uint8Array): string {
  return sha256Hex(concatBytes(utf8ToBytes(`${label}\0`), conversationKey))
}
