import { deviceWaitMs, pageItemsMax, requestSecondsMax } from '../limits.ts'
import { Refusal } from '../protocol/refusal.ts'
import type { TaskDetail } from '../protocol/task-pages.ts'
import { ask, askFor, type DeviceState as State } from './ask.ts'
import { attend } from './attend.ts'
import type { Device, DeviceOptions } from './device.ts'
import { pendingEnrollments } from './enrollment-copies.ts'
import { openIdentity } from './identity.ts'
import { openPairing } from './pairing.ts'
import { flush, sendCommand, sendCreate } from './sends.ts'
import { standings } from './sent.ts'
import { watch } from './watch.ts'

/**
 * Opens a device by its state directory, which is made, with a key, when there is none. Nothing is dialled before
 * something is asked.
 */
export async function openDevice(options: DeviceOptions): Promise<Device> {
  const identity = await openIdentity(options.disk, options.random, options.dir)
  // A wait never outlives the request that it is for.
  const waitMs = Math.min(options.waitMs ?? deviceWaitMs, (requestSecondsMax - 5) * 1000)
  const pairing = await openPairing(options, identity, waitMs)
  return deviceOf({ options, pairing, waitMs })
}

/** What can be asked of a host, and what is kept of it, by whoever the pairing is of. */
export function deviceOf(state: State): Device {
  const { pairing } = state
  return {
    async redeem(code) {
      await pairing.redeem(code)
      return pairing.whoami()
    },
    whoami: () => pairing.whoami(),
    async accept(wanted, given, acceptMs) {
      await pairing.accept(wanted, given, acceptMs)
      return pairing.whoami()
    },
    async enrollments() {
      const { asker, sealer, owner } = pairing.paired()
      const { host, relay } = asker.to()
      return pendingEnrollments({ ...state.options, sealer, owner, host, relay, waitMs: state.waitMs })
    },
    workspaces: () => workspaces(state),
    tasks: (workspace, page = {}) => tasks(state, workspace, page),
    read: (task, page = {}) => read(state, task, page),
    queue: (task, edit) => queue(state, task, edit),
    create: (task, signal) => sendCreate(state, task, signal),
    command: (command, signal) => sendCommand(state, command, signal),
    ask: (op) => ask(state, op),
    outbox: async () => standings(await pairing.paired().outbox.entries()),
    async flush() {
      await flush(state)
      return standings(await pairing.paired().outbox.entries())
    },
    stay: (attention, signal) => attend(state, attention, signal),
    watch: (watcher, signal) => watch(state, watcher, signal),
    close: () => pairing.close(),
  }
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
