import * as z from 'zod'
import { terminalCellsMax, threadTextBytesMax } from '../../limits.ts'
import { boundedInt, message } from '../fields.ts'
import { isJsonObject, type JsonObject } from '../json-value.ts'
import { shortHexId } from '../keys.ts'

/** An object that the owner of the operation would read; kept as it came. */
const opaque = z.custom<JsonObject>(isJsonObject)
const cells = boundedInt(1, terminalCellsMax)

/**
 * Operations whose owner this host does not have. They are held to their bounds all the same, and then refused
 * `unavailable`.
 * @see spec/wire.md §6
 */
export const unavailableOperations = [
  z.strictObject({ kind: z.literal('terminal.open'), cols: cells, rows: cells }),
  z.strictObject({ kind: z.literal('chats.invite') }),
  z.strictObject({ kind: z.literal('thread.list') }),
  z.strictObject({ kind: z.literal('thread.read'), thread: shortHexId, before: z.int().nullable() }),
  z.strictObject({
    kind: z.literal('thread.send'),
    thread: shortHexId,
    request: shortHexId,
    text: message(threadTextBytesMax),
  }),
  z.strictObject({ kind: z.literal('thread.stop'), thread: shortHexId, request: shortHexId.nullable() }),
  z.strictObject({ kind: z.literal('thread.run'), thread: shortHexId }),
  z.strictObject({ kind: z.literal('spend.list'), grant: opaque }),
  z.strictObject({ kind: z.literal('spend.settle'), receipt: opaque }),
] as const
