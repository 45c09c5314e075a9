import * as z from 'zod'
import { controlLineBytesMax } from '../limits.ts'
import { hexId, publicKey, unixSeconds } from '../protocol/keys.ts'
import { queueEditSchema } from '../protocol/operations/commands.ts'
import { cliCodes, isRefusal, Refusal, type RefusalCode, storeCodes, wireCodes } from '../protocol/refusal.ts'
import { rightsSchema } from '../protocol/rights.ts'
import { parseStrictJson } from '../protocol/strict-json.ts'
import { isIdentifier } from '../protocol/text.ts'
import { reasonOf } from './log.ts'
import type { Operator } from './operator.ts'

/** The schema word of a line to the service. @see spec/cli.md */
export const controlSchema = 'drawbridge.control.v1'

const envelope = { schema: z.literal(controlSchema), token: hexId }
const taskId = z.string().refine(isIdentifier)

const controlRequest = z.discriminatedUnion('op', [
  z.strictObject({ ...envelope, op: z.literal('status') }),
  z.strictObject({
    ...envelope,
    op: z.literal('invite'),
    rights: rightsSchema,
    grant_expires_at: unixSeconds,
    relay: z.string().nullable(),
  }),
  z.strictObject({ ...envelope, op: z.literal('invite.cancel'), invitation: hexId }),
  z.strictObject({
    ...envelope,
    op: z.literal('enroll.request'),
    rights: rightsSchema,
    relay: z.string().nullable(),
  }),
  z.strictObject({ ...envelope, op: z.literal('devices') }),
  z.strictObject({ ...envelope, op: z.literal('revoke'), device: publicKey }),
  z.strictObject({ ...envelope, op: z.literal('reload') }),
  z.strictObject({
    ...envelope,
    op: z.literal('commands.list'),
    task: taskId.nullable(),
    from: z.int().min(0),
  }),
  z.strictObject({ ...envelope, op: z.literal('queue.edit'), task: taskId, edit: queueEditSchema }),
  z.strictObject({ ...envelope, op: z.literal('task.changed'), task: taskId }),
])
export type ControlRequest = z.infer<typeof controlRequest>

/**
 * Reads one line to the service. Refuses `malformed` for anything but a known operation in its exact shape; the token
 * is compared by the caller.
 */
export function parseControlRequest(line: Uint8Array): ControlRequest {
  const parsed = controlRequest.safeParse(parseStrictJson(line, { bytesMax: controlLineBytesMax }).value)
  if (parsed.success) return parsed.data
  throw new Refusal('malformed', 'not an operation of the control socket')
}

/** Runs one operation and gives the line that answers it. Never throws. */
export async function answerControl(operator: Operator, request: ControlRequest): Promise<Uint8Array> {
  try {
    return encodeLine({ ok: true, ...(await run(operator, request)) })
  } catch (error) {
    return encodeControlError(error)
  }
}

/** The line that says what went wrong. */
export function encodeControlError(error: unknown): Uint8Array {
  if (!isRefusal(error)) return encodeLine({ error: { code: 'io', message: reasonOf(error) } })
  const { code, message, hint, missing } = error
  return encodeLine({
    error: {
      code,
      message,
      ...(hint === undefined ? {} : { hint }),
      ...(missing === undefined ? {} : { missing }),
    },
  })
}

const errorReply = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    hint: z.string().exactOptional(),
    missing: z.string().exactOptional(),
  }),
})
const okReply = z.looseObject({ ok: z.literal(true) })
const refusalCodes: readonly RefusalCode[] = [...wireCodes, ...storeCodes, ...cliCodes]

/** Reads the service's line; an error line is thrown as the refusal that it was. */
export function parseControlReply(line: Uint8Array): Record<string, unknown> {
  const { value } = parseStrictJson(line, { bytesMax: controlLineBytesMax })
  const ok = okReply.safeParse(value)
  if (ok.success) return ok.data
  const failed = errorReply.safeParse(value)
  if (!failed.success) throw new Refusal('io', 'the service answered something else')
  const { code, message, ...facts } = failed.data.error
  throw new Refusal(refusalCodes.find((word) => word === code) ?? 'io', message, facts)
}

/** One line of JSON. Refuses `bounds` when it would be longer than a line may be. */
export function encodeLine(value: object): Uint8Array {
  const bytes = new TextEncoder().encode(`${JSON.stringify(value)}\n`)
  if (bytes.length > controlLineBytesMax)
    throw new Refusal('bounds', 'the answer is longer than a line may be')
  return bytes
}

async function run(operator: Operator, request: ControlRequest): Promise<object> {
  switch (request.op) {
    case 'status':
      return { status: await operator.status() }
    case 'invite': {
      const { rights, grant_expires_at, relay } = request
      return await operator.invite({ rights, grant_expires_at, relay })
    }
    case 'invite.cancel':
      await operator.uninvite(request.invitation)
      return { invitation: request.invitation }
    case 'enroll.request':
      return await operator.requestEnrollment({ rights: request.rights, relay: request.relay })
    case 'devices':
      return { devices: await operator.devices() }
    case 'revoke':
      return await operator.revoke(request.device)
    case 'reload':
      return await operator.reload()
    case 'commands.list':
      return await operator.commands({ task: request.task, from: request.from })
    case 'queue.edit':
      return { queue: await operator.editQueue(request.task, request.edit) }
    case 'task.changed':
      await operator.taskChanged(request.task)
      return { task: request.task }
  }
}
