import { taskFileSoftBytesMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { quoted } from '../../protocol/shell-word.ts'
import { sha256Digest } from '../digest.ts'
import { parseTaskCommand, type TaskCommand } from './command.ts'
import type { StoreHandle } from './handle.ts'
import type { CommandSender } from './identities.ts'
import { retiredStoreWith } from './retired.ts'
import type { Receipt } from './task.ts'
import { receiptOf, type VerifiedTask, withCommand } from './task-file.ts'
import { applyCommand } from './transition.ts'

/**
 * Applies a store command once: one durable line in the log of ids, one durable replacement of the task's file.
 * @see spec/store.md §10
 */
export async function applyBytes(
  handle: StoreHandle,
  bytes: Uint8Array,
  sender: CommandSender,
): Promise<Receipt> {
  await handle.check()
  const command = parseTaskCommand(bytes)
  await refuseForeignId(handle, command)
  const path = handle.layout.taskFile(command.task_id)
  if (command.action.type !== 'submit' && (await handle.disk.identity(path)) === null) {
    // Only a submit may make a lock file for a task that is not there.
    throw new Refusal('not_found', 'no such task')
  }
  return handle.locked(handle.layout.taskLock(command.task_id), async () => {
    const before = await handle.tasks.load(command.task_id)
    const known = knownReceipt(before, command, sha256Digest(bytes))
    if (known === null) return accept(handle, before, { command, bytes, sender })
    // The first attempt may have been cut off before its sync: an old receipt is only given for a durable file.
    await handle.disk.sync(path)
    return known
  })
}

/** The receipt of exactly these bytes, if the store has accepted them. Takes no lock. */
export async function receiptForBytes(handle: StoreHandle, bytes: Uint8Array): Promise<Receipt | null> {
  await handle.check()
  const command = parseTaskCommand(bytes)
  const receipt = (await handle.tasks.load(command.task_id))?.receipts.get(command.command_id)
  return receipt?.request_digest === sha256Digest(bytes) ? receipt : null
}

async function refuseForeignId(handle: StoreHandle, { command_id, task_id }: TaskCommand): Promise<void> {
  const owner = await handle.identities.ownerOf(command_id)
  if (owner === undefined || owner === task_id) return
  throw new Refusal('command_conflict', 'the command id belongs to another task')
}

function knownReceipt(
  before: VerifiedTask | null,
  { command_id }: TaskCommand,
  digest: string,
): Receipt | null {
  const receipt = before?.receipts.get(command_id)
  if (receipt === undefined) return null
  if (receipt.request_digest === digest) return receipt
  throw new Refusal('command_conflict', 'the command id was used with other bytes')
}

async function accept(
  handle: StoreHandle,
  before: VerifiedTask | null,
  { command, bytes, sender }: { command: TaskCommand; bytes: Uint8Array; sender: CommandSender },
): Promise<Receipt> {
  const { command_id, task_id, action } = command
  const task = applyCommand(before?.task ?? null, command)
  if (before === null) await refuseRetired(handle, task_id)
  if (action.type === 'continue') refuseFullFile(before)
  const receipt = receiptOf(task, command_id, sha256Digest(bytes), (before?.sequence ?? 0) + 1)
  const request = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const next = withCommand(before, { task, command, request, receipt })
  await handle.commit(task_id, next, () =>
    handle.reserve({ command_id, task_id, submit: action.type === 'submit' }, sender),
  )
  return receipt
}

/** A task that was put aside with its store is never made a second time. @see spec/store.md §6a */
async function refuseRetired({ disk, layout }: StoreHandle, taskId: string): Promise<void> {
  const retired = await retiredStoreWith(disk, layout.dir, taskId)
  if (retired === null) return
  throw new Refusal('invalid_transition', 'the task is in a store that was put aside', {
    hint: `drawbridge task show ${taskId} --store ${quoted(retired)}`,
  })
}

/** Past 12 MiB nothing may begin, so that what ends a run always fits. @see spec/store.md §6a */
export function refuseFullFile(before: VerifiedTask | null): void {
  if ((before?.bytes ?? 0) <= taskFileSoftBytesMax) return
  throw new Refusal('limit_exceeded', 'the history of this task is full; go on in a new task')
}
