import { deviceWaitMs, pageItemsMax, requestSecondsMax } from '../limits.ts'
import type { Operation } from '../protocol/operations.ts'
import type { Outcome, OutcomeKind } from '../protocol/outcomes.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { deviceTaskId } from '../protocol/task-id.ts'
import type { TaskDetail } from '../protocol/task-pages.ts'
import { nowSeconds } from '../seams/clock.ts'
import { randomId } from '../seams/random.ts'
import type { Device, DeviceOptions, NewCommand, Sent } from './device.ts'
import { type Identity, openIdentity } from './identity.ts'
import type { Undecided } from './outbox-entry.ts'
import { openPairing, type Paired, type Pairing } from './pairing.ts'
import { requestBody, signRequest } from './request.ts'
import { flushOutbox } from './sender.ts'
import { sentOf } from './sent.ts'

interface State {
  readonly options: DeviceOptions
  readonly identity: Identity
  readonly pairing: Pairing
  readonly waitMs: number
}

/**
 * Opens a device by its state directory, which is made, with a key, when there is none. Nothing is dialled before
 * something is asked.
 */
export async function openDevice(options: DeviceOptions): Promise<Device> {
  const identity = await openIdentity(options.disk, options.random, options.dir)
  // A wait never outlives the request that it is for.
  const waitMs = Math.min(options.waitMs ?? deviceWaitMs, (requestSecondsMax - 5) * 1000)
  const pairing = await openPairing(options, identity, waitMs)
  const state: State = { options, identity, pairing, waitMs }
  return {
    async redeem(code) {
      await pairing.redeem(code)
      return pairing.whoami()
    },
    whoami: async () => pairing.whoami(),
    workspaces: () => workspaces(state),
    tasks: (workspace, page = {}) => tasks(state, workspace, page),
    read: (task, page = {}) => read(state, task, page),
    queue: (task, edit) => queue(state, task, edit),
    create: (task) => create(state, task),
    command: (command) => sendCommand(state, command),
    ask: (op) => ask(state, op),
    outbox: async () => (await pairing.paired().outbox.entries()).map(sentOf),
    async flush() {
      await flush(state)
      return (await pairing.paired().outbox.entries()).map(sentOf)
    },
    close: () => pairing.close(),
  }
}

/** Asks once. Throws the host's code, or `timeout` with the reason that the device can see. */
async function ask(state: State, op: Operation): Promise<Outcome> {
  const { options, identity, pairing, waitMs } = state
  const { clock, random, policy } = options
  const { access, exchange } = pairing.paired()
  const sign = async () => {
    const { grant } = access()
    const to = { host: grant.host, relay: grant.relay, grant }
    return signRequest({
      identity,
      to,
      op,
      request: randomId(random),
      now: nowSeconds(clock),
      random,
      policy,
    })
  }
  const answer = await exchange.ask(sign, clock.nowMs() + waitMs)
  if (answer.heard === 'silence') throw new Refusal('timeout', answer.why)
  if (answer.result.status === 'ok') return answer.result.outcome
  const { code, missing } = answer.result
  const what = missing === null ? code : `this device has no right to ${missing}`
  throw new Refusal(code, `the host refused: ${what}`, missing === null ? {} : { missing })
}

async function askFor<K extends OutcomeKind>(
  state: State,
  op: Operation,
  kind: K,
): Promise<Extract<Outcome, { kind: K }>> {
  const outcome = await ask(state, op)
  if (!isOutcome(outcome, kind)) throw new Refusal('malformed', 'the host answered something else')
  return outcome
}

function isOutcome<K extends OutcomeKind>(
  outcome: Outcome,
  kind: K,
): outcome is Extract<Outcome, { kind: K }> {
  return outcome.kind === kind
}

async function workspaces(state: State): Promise<readonly string[]> {
  return (await askFor(state, { kind: 'workspace.list' }, 'workspaces')).workspaces
}

async function tasks(state: State, workspace: string, page: { cursor?: string; limit?: number }) {
  const query = { workspace, cursor: page.cursor ?? null, limit: page.limit ?? pageItemsMax }
  const found = (await askFor(state, { kind: 'task.list', query }, 'tasks')).tasks
  await state.pairing
    .paired()
    .outbox.see(found.items.map(({ task, revision }) => ({ task, revision, workspace })))
  return found
}

type Page = { workspace?: string; cursor?: string; limit?: number }

async function read(state: State, task: string, page: Page): Promise<TaskDetail> {
  const { outbox } = state.pairing.paired()
  const workspace =
    page.workspace ?? (await outbox.seen(task))?.workspace ?? (await findWorkspace(state, task))
  const query = {
    task,
    workspace,
    revision: null,
    cursor: page.cursor ?? null,
    limit: page.limit ?? pageItemsMax,
  }
  const detail = (await askFor(state, { kind: 'task.read', query }, 'task')).task
  await outbox.see([{ task, revision: detail.revision, workspace }])
  return detail
}

async function findWorkspace(state: State, task: string): Promise<string> {
  for (const workspace of await workspaces(state)) {
    let cursor: string | undefined
    do {
      const page = await tasks(state, workspace, cursor === undefined ? {} : { cursor })
      if (page.items.some((item) => item.task === task)) return workspace
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
  }
  throw new Refusal('not_found', 'no workspace of this host shows such a task')
}

async function queue(state: State, task: string, edit: Parameters<Device['queue']>[1]) {
  const view = (await askFor(state, { kind: 'task.queue', task, edit }, 'queue')).queue
  await state.pairing.paired().outbox.see([{ task, revision: view.revision, workspace: null }])
  return view
}

async function create(state: State, task: Parameters<Device['create']>[0]): Promise<Sent> {
  const { identity, options, pairing } = state
  const id = randomId(options.random)
  const created = deviceTaskId(identity.signer.publicKey, id)
  const sent = await send(state, { id, kind: 'create', task: created, op: { kind: 'task.create', task } })
  await pairing.paired().outbox.see([{ task: created, revision: null, workspace: task.workspace }])
  return sent
}

async function sendCommand(state: State, command: NewCommand): Promise<Sent> {
  const { task, action, text, emulate = false } = command
  const look = command.based_on === undefined ? await lookAt(state, task) : { revision: command.based_on }
  const based_on = 'silent' in look ? await lastRevision(state, command, look.silent) : look.revision
  const id = randomId(state.options.random)
  const issued_at = nowSeconds(state.options.clock)
  const op: Operation = {
    kind: 'task.command',
    command: { command: id, task, action, based_on, text, emulate, issued_at },
  }
  return send(state, { id, kind: action, task, op }, 'silent' in look ? look.silent : null)
}

/**
 * The task's revision now, or why the host does not say it. If it refuses to say, it will refuse the command too, and
 * in its own words.
 */
async function lookAt(state: State, task: string): Promise<{ revision: number } | { silent: string }> {
  const before = await undecided(state)
  if (before !== undefined) await flush(state)
  const blocking = before === undefined ? undefined : await undecided(state)
  if (blocking !== undefined) return { silent: `it waits behind an earlier message: ${blocking.why}` }
  try {
    return { revision: (await queue(state, task, { action: 'list' })).revision }
  } catch (error) {
    if (isRefusal(error, 'timeout')) return { silent: error.message }
    if (isRefusal(error)) return { revision: 0 }
    throw error
  }
}

async function undecided({ pairing }: State): Promise<Undecided | undefined> {
  const entries = await pairing.paired().outbox.entries()
  return entries.find((entry) => entry.state === 'undecided')
}

/**
 * What the device last saw of the task, for a command that is given while the host is away. A task of this device's
 * own that it never saw is in its first turn; a message that starts or awaits a turn needs no more than that.
 */
async function lastRevision(state: State, { task, action }: NewCommand, why: string): Promise<number> {
  const { outbox } = state.pairing.paired()
  const revision = (await outbox.seen(task))?.revision ?? null
  if (revision !== null) return revision
  const isOurs = (await outbox.entries()).some((entry) => entry.kind === 'create' && entry.task === task)
  if (isOurs) return 1
  if (action === 'send' || action === 'queue') return 0
  throw new Refusal('timeout', `this device has never seen the task, so the command was not kept: ${why}`)
}

/**
 * Keeps something for sending, sends what can be sent, and says how it stands.
 * @param silent why the host was just found to say nothing: then it is only kept
 */
async function send(
  state: State,
  what: Pick<Undecided, 'id' | 'kind' | 'task' | 'op'>,
  silent: string | null = null,
): Promise<Sent> {
  const { options, identity, pairing } = state
  const { access, outbox } = pairing.paired()
  const { grant } = access()
  const now = nowSeconds(options.clock)
  const to = { host: grant.host, relay: grant.relay, grant }
  // What could never travel is refused before anybody is told that it was sent.
  requestBody({ identity, to, op: what.op, request: what.id, now, policy: options.policy })
  await outbox.add({
    ...what,
    state: 'undecided',
    queued_at: now,
    attempt: null,
    why: silent ?? 'not sent yet',
  })
  if (silent === null) await flush(state)
  const entry = (await outbox.entries()).find((one) => one.id === what.id)
  if (entry === undefined) throw new Error('an entry left the outbox undecided')
  return sentOf(entry)
}

async function flush({ options, identity, pairing, waitMs }: State): Promise<void> {
  const paired: Paired = pairing.paired()
  await flushOutbox({
    ...paired,
    identity,
    waitMs,
    clock: options.clock,
    random: options.random,
    policy: options.policy,
  })
}
