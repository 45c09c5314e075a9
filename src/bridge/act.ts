import type { Result } from '../protocol/bodies/reply.ts'
import type { NostrEvent } from '../protocol/event.ts'
import type { Operation, OperationOf } from '../protocol/operations.ts'
import { isRefusal } from '../protocol/refusal.ts'
import { nowSeconds } from '../seams/clock.ts'
import type { AccessBook } from './access/book.ts'
import { epochOf } from './access/grants.ts'
import type { Principal } from './access/principal.ts'
import type { Asked } from './admit.ts'
import type { Counters } from './counters.ts'
import { type DispatchContext, dispatch, keepingOf } from './dispatch.ts'
import type { KeptReplies, KeptReply } from './kept-replies.ts'
import { type Log, reasonOf } from './log.ts'
import { redeem } from './redemption.ts'
import { type Answered, type Sealer, sealReply } from './seal.ts'
import { wireRefusalOf } from './wire-code.ts'

export interface ActDeps {
  readonly sealer: Sealer
  readonly book: AccessBook
  readonly replies: KeptReplies
  readonly counters: Counters
  readonly context: DispatchContext
  readonly log: Log
  /** Resolves when the next answer may be made: commands that share a write are all done at once. */
  turn(): Promise<void>
}

/**
 * Acts on an admitted request and signs the answer, keeping both as its operation asks: what has an effect is durable
 * before the act, and its answer before it is given.
 * @returns what to publish, or null when the request expired meanwhile. Throws when what was done cannot be kept: an
 * answer that is asked for once more is then that of the same act
 * @see spec/wire.md §7, steps 6 and 7
 */
export async function act(
  deps: ActDeps,
  asked: Asked,
  principal: Principal,
  op: Operation,
): Promise<NostrEvent | null> {
  const keeping = keepingOf(op)
  const kept = keptFor(deps, asked)
  try {
    if (keeping === 'effect') await deps.replies.save(kept)
  } catch (error) {
    const reply = answer(deps, asked, failure(deps, asked, op, error))
    deps.replies.ride({ ...kept, reply })
    return reply
  }
  const result = await resultOf(deps, asked, principal, op)
  await deps.turn()
  if (asked.head.expires_at <= nowSeconds(deps.context.clock)) {
    deps.counters.count('expired_meanwhile')
    return null
  }
  // What was only looked at must not follow its reader past a revocation; what had an effect is told as it is.
  const isGone = hasNoEffect(keeping) && epochOf(deps.book.read(), asked.signer) !== kept.epoch
  const reply = answer(deps, asked, isGone ? refused('revoked') : result)
  if (keeping === 'effect') await saveAnswer(deps, { ...kept, reply }, result)
  else if (keeping !== 'none') deps.replies.ride({ ...kept, reply })
  return reply
}

/** Redeems an invitation and gives its answer; null when it earns none. */
export async function actOnRedemption(
  deps: Omit<ActDeps, 'turn'>,
  asked: Asked,
  op: OperationOf<'enroll.redeem'>,
): Promise<NostrEvent | null> {
  try {
    const redeemed = await redeem({ ...deps.context, ...deps }, asked, op)
    if (redeemed.kind === 'reply') return redeemed.reply
    if (redeemed.kind === 'refuse') return answer(deps, asked, refused(redeemed.code))
    deps.counters.count(redeemed.reason)
    return null
  } catch (error) {
    return answer(deps, asked, failure(deps, asked, op, error))
  }
}

/** Signs `result`, or `bounds` when the final event would be too long for the relay that it goes to. */
export function answer(
  deps: Pick<ActDeps, 'sealer' | 'counters' | 'context'>,
  asked: Asked,
  result: Result,
): NostrEvent {
  const now = nowSeconds(deps.context.clock)
  const bytesMax = deps.context.eventBytesMax(asked.relay)
  try {
    return sealReply(deps.sealer, answeredOf(asked), result, now, bytesMax)
  } catch (error) {
    if (!isRefusal(error, 'bounds')) throw error
    deps.counters.count('oversized_answer')
    return sealReply(deps.sealer, answeredOf(asked), refused('bounds'), now, bytesMax)
  }
}

/** What is kept of a request before it is answered. */
export function keptFor(deps: Pick<ActDeps, 'book'>, asked: Asked): KeptReply {
  return { ...answeredOf(asked), epoch: epochOf(deps.book.read(), asked.signer), reply: null }
}

/** Nothing happened for a refusal, so it is told also when there is no room to keep it yet. */
async function saveAnswer(deps: ActDeps, kept: KeptReply, result: Result): Promise<void> {
  try {
    await deps.replies.save(kept)
  } catch (error) {
    if (result.status === 'ok') throw error
    deps.log.warn('a refusal could not be kept at once', { reason: reasonOf(error) })
    deps.replies.ride(kept)
  }
}

function hasNoEffect(keeping: ReturnType<typeof keepingOf>): boolean {
  return keeping === 'none' || keeping === 'read'
}

async function resultOf(deps: ActDeps, asked: Asked, principal: Principal, op: Operation): Promise<Result> {
  try {
    const { request, relay } = asked.head
    const asking = { principal, signer: asked.signer, request, relay }
    return { status: 'ok', outcome: await dispatch(deps.context, asking, op) }
  } catch (error) {
    return failure(deps, asked, op, error)
  }
}

/** A refusal is an answer; anything else that is thrown is a bug, and is logged as one. */
function failure(deps: Omit<ActDeps, 'turn'>, asked: Asked, op: Operation, error: unknown): Result {
  const { code, missing } = wireRefusalOf(error)
  const facts = { operation: op.kind, device: asked.signer, request: asked.head.request, code }
  if (!isRefusal(error)) {
    deps.counters.count('failed')
    deps.log.error('an operation failed', { ...facts, reason: reasonOf(error) })
  } else if (code === 'unavailable') {
    deps.log.warn('an operation is unavailable', { ...facts, reason: reasonOf(error) })
  } else {
    deps.log.debug('an operation was refused', facts)
  }
  return { status: 'refused', code, missing }
}

function refused(code: Exclude<Result, { status: 'ok' }>['code']): Result {
  return { status: 'refused', code, missing: null }
}

function answeredOf(asked: Asked): Answered {
  const { request, expires_at } = asked.head
  return { request, request_event: asked.event, signer: asked.signer, expires_at }
}
