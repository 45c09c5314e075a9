import { isRefusal } from '../protocol/refusal.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import type { DiskLock } from '../seams/disk.ts'
import { type Random, randomId } from '../seams/random.ts'
import type { Asker } from './asker.ts'
import { duration } from './clock-words.ts'
import type { Exchange, Postponed } from './exchange.ts'
import type { Answer } from './link.ts'
import type { Outbox } from './outbox.ts'
import { type Attempt, planSend, type Undecided } from './outbox-entry.ts'
import { signerField } from './remote-signer/messages.ts'
import type { SignedRequest } from './request.ts'

export interface SenderDeps {
  readonly asker: Asker
  readonly outbox: Outbox
  readonly exchange: Exchange
  readonly clock: Clock
  readonly random: Random
  /** How long each entry may wait for its answer, in milliseconds. */
  readonly waitMs: number
  /** Asks the host to show itself, when it did not answer. */
  readonly nudge: () => Promise<void>
  /** Whether a command whose request is still fresh is signed again, since something changed since it was sent. */
  readonly afresh?: boolean | undefined
  /** Called after each entry that was decided. */
  readonly changed?: (() => void) | undefined
}

/**
 * Sends what is undecided, oldest first, each only after the one before it was answered: the order of one device is
 * exact. Stops at the first that stays unanswered and says why. Another process that is sending already is left to
 * it, for as long as this one may wait.
 */
export async function flushOutbox(deps: SenderDeps): Promise<void> {
  const turn = await takeTurn(deps)
  if (turn === null) return
  try {
    for (;;) {
      const entries = await deps.outbox.entries()
      const entry = entries.find((one) => one.state === 'undecided')
      if (entry === undefined) return
      const answer = await sendEntry(deps, entry)
      if (answer.heard === 'silence') {
        await deps.outbox.explain(entry.id, answer.why)
        if (answer.postponed !== true) await deps.nudge()
        return
      }
      await deps.outbox.decide(entry.id, answer.result)
      deps.changed?.()
    }
  } finally {
    await turn.release()
  }
}

async function takeTurn({ outbox, waitMs }: SenderDeps): Promise<DiskLock | null> {
  try {
    return await outbox.sender(waitMs)
  } catch (error) {
    if (isRefusal(error, 'store_busy')) return null
    throw error
  }
}

async function sendEntry(deps: SenderDeps, entry: Undecided): Promise<Answer> {
  const { clock, exchange, asker, waitMs } = deps
  const early = planSend(entry, nowSeconds(clock), asker.to().grant?.grant ?? null)
  if (early.plan === 'wait')
    return { heard: 'silence', why: waitWords(deps, early.until), lost: false, postponed: true }
  return exchange.ask(() => requestFor(deps, entry), clock.nowMs() + waitMs)
}

/** What to send for an entry, planned when it can be sent: the grant may have been renewed until then. */
async function requestFor(deps: SenderDeps, entry: Undecided): Promise<SignedRequest | Postponed> {
  const { grant } = await deps.asker.ready()
  const plan = planSend(entry, nowSeconds(deps.clock), grant?.grant ?? null, deps.afresh)
  if (plan.plan === 'wait') return { postponed: waitWords(deps, plan.until) }
  if (plan.plan === 'resend') return signedAlready(deps, entry, plan.attempt)
  try {
    return await signNow(deps, entry, plan.request)
  } catch (error) {
    // It is kept all the same: what a signer elsewhere does not sign now, it may sign later.
    if (isRefusal(error) && error.field === signerField) return { postponed: error.message }
    throw error
  }
}

function waitWords({ clock }: SenderDeps, until: number): string {
  return `asked already, and its answer was not heard; asked again in ${duration(until - nowSeconds(clock))}`
}

/** Signs and saves the request before it goes out: after a crash the same event can be sent again. */
async function signNow(deps: SenderDeps, entry: Undecided, request: string | null): Promise<SignedRequest> {
  const { asker, random, outbox } = deps
  const asked = await asker.sign(entry.op, request ?? randomId(random))
  const { body, event } = asked
  await outbox.attempt(entry.id, {
    request: body.request,
    event,
    grant: body.grant,
    issued_at: body.issued_at,
    expires_at: body.expires_at,
  })
  return asked
}

/** The request of an earlier attempt, as it was signed. */
function signedAlready({ asker }: SenderDeps, { op }: Undecided, attempt: Attempt): SignedRequest {
  const { host, relay, grant } = asker.to()
  const { event, request, issued_at, expires_at } = attempt
  return {
    event,
    body: {
      v: 'openagents.host-request.v1',
      requires: [],
      request,
      host,
      grant: grant?.grant ?? null,
      epoch: grant?.epoch ?? null,
      relay,
      issued_at,
      expires_at,
      op,
    },
  }
}
