import { deliveryWaitMs, readyAgainMs, stopWaitMs } from '../limits.ts'
import { isRefusal } from '../protocol/refusal.ts'
import { loadFastCrypto } from '../protocol/signer.ts'
import { type Clock, nowSeconds, pause } from '../seams/clock.ts'
import type { Task } from '../store/tasks/task.ts'
import { currentGrants } from './access/grants.ts'
import { listenForControl } from './control-socket.ts'
import { openHome } from './home.ts'
import { withModeHints } from './home-check.ts'
import { chooseRelay, localOperator } from './local-operator.ts'
import { reasonOf } from './log.ts'
import { requestEnrollment } from './operations/enrollments.ts'
import type { Operator, ServiceStatus } from './operator.ts'
import { removeReadyFile, writeReadyFile } from './ready-file.ts'
import { requireServeSettings } from './serve-settings.ts'
import { takeServiceLock } from './service-lock.ts'
import { openServiceParts, type ServiceDeps, type ServiceParts } from './service-parts.ts'
import { tightJournal, tightStore } from './tight.ts'

export type { ServiceDeps } from './service-parts.ts'

/** The resident service of one home. */
export interface Service {
  readonly host: string
  readonly owner: string
  /** Resolves when `run/ready.json` is written: each relay is live, or had its first ten seconds. */
  readonly ready: Promise<void>
  status(): Promise<ServiceStatus>
  /** Finishes what is in flight, saves what is only in memory, and frees the home. Turns go on. */
  stop(): Promise<void>
}

/**
 * Starts the service of a home: settles and evaluates what lies there, serves every relay, and listens for the local
 * operator.
 *
 * Refuses `already_running` naming the process, `configuration` without settings or a relay, `forbidden` for a relay
 * outside the policy, `unsafe_path` (with what to type) and `corrupt_store` as the home's files do.
 * @see spec/wire.md §8, spec/cli.md
 */
export async function startService(deps: ServiceDeps): Promise<Service> {
  const { disk } = deps
  const home = await openHome(disk, deps.home)
  const lock = await takeServiceLock(disk, home.paths, deps.pid)
  const ends: (() => Promise<void>)[] = [
    () => lock.release(),
    async () => void (await disk.remove(home.paths.pid)),
  ]
  const unwind = async () => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
      await end().catch((error: unknown) =>
        deps.log.error('a part did not end well', { reason: reasonOf(error) }),
      )
    }
  }
  try {
    await Promise.all([loadFastCrypto(), removeReadyFile(disk, home.paths)])
    const parts = await withModeHints(deps.home, () => openServiceParts(deps, home, (end) => ends.push(end)))
    return await begin(deps, parts, (end) => ends.push(end), unwind)
  } catch (error) {
    await unwind()
    throw error
  }
}

async function begin(
  deps: ServiceDeps,
  parts: ServiceParts,
  opened: (end: () => Promise<void>) => void,
  unwind: () => Promise<void>,
): Promise<Service> {
  const { disk, clock, log } = deps
  const { paths } = parts.home
  const { host, owner } = parts.book.read()
  const started = { at: nowSeconds(clock), ready: false }
  let stopping: Promise<void> | null = null

  const operator = serviceOperator(deps, parts, started)
  const control = await listenForControl(deps, paths, operator)
  opened(control.close)
  await parts.side.settleIn()
  opened(async () => {
    parts.announcer.close()
    parts.links.close()
  })
  parts.take(parts.settings())
  parts.announcer.announce()

  let saying: Promise<void> = Promise.resolve()
  const sayReady = async (): Promise<void> => {
    const relays = parts.links.states().map(({ url, state }) => ({ url, state }))
    await writeReadyFile(disk, paths, { pid: deps.pid, host, owner, relays, at: nowSeconds(clock) })
    started.ready = true
  }
  const becomeReady = async (): Promise<void> => {
    await parts.links.ready()
    while (stopping === null && !started.ready) {
      try {
        saying = sayReady()
        await saying
      } catch (error) {
        // It serves all the same; whoever waits for the file hears of it once there is room.
        log.error('run/ready.json could not be written', { reason: reasonOf(error) })
        await pause(clock, readyAgainMs)
      }
    }
  }
  const ready = becomeReady()

  const stop = async (): Promise<void> => {
    parts.refuseMore()
    await control.close()
    await within(clock, stopWaitMs, parts.requests.idle())
    await within(clock, deliveryWaitMs, parts.links.drained())
    // What is being written now would be there after its removal.
    await saying.catch(() => undefined)
    await removeReadyFile(disk, paths)
    await unwind()
  }
  return {
    host,
    owner,
    ready,
    status: operator.status,
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

function serviceOperator(
  deps: ServiceDeps,
  parts: ServiceParts,
  started: { readonly at: number; readonly ready: boolean },
): Operator {
  const { side, links, context } = parts
  return {
    ...localOperator({
      access: context,
      commands: async () => side.commands,
      relays: links.urls,
      owner: parts.book.read().owner,
    }),
    requestEnrollment: ({ rights, relay }) =>
      requestEnrollment(context, { rights, relay: chooseRelay(links.urls(), relay) }),
    async taskChanged(task) {
      side.changed(task)
    },
    async reload() {
      parts.take(await requireServeSettings(deps.disk, parts.home.paths))
      return { relays: links.urls(), workspaces: parts.settings().workspaces }
    },
    status: () => statusOf(deps, parts, started),
  }
}

async function statusOf(
  deps: ServiceDeps,
  parts: ServiceParts,
  started: { readonly at: number; readonly ready: boolean },
): Promise<ServiceStatus> {
  const record = parts.book.read()
  const now = nowSeconds(deps.clock)
  const faults: string[] = []
  const tasks = await orFault(faults, async () => countByStatus(await parts.side.tasks.list()))
  const entries = await orFault(faults, async () => parts.side.commands.entries())
  const undecided = entries?.filter(({ state }) => state.state !== 'done')
  const { tasks: store, archive } = parts.side
  // A store that does not read is a fault already.
  const tight = tasks === null ? null : await orFault(faults, () => tightStore(store, archive))
  return {
    pid: deps.pid,
    host: record.host,
    owner: record.owner,
    generation: parts.generation,
    started_at: started.at,
    ready: started.ready,
    relays: parts.links.states(),
    workspaces: parts.settings().workspaces.map(({ label }) => label),
    devices: {
      active: new Set(currentGrants(record, now).map(({ grant }) => grant.device)).size,
      known: new Set(record.grants.map(({ grant }) => grant.device)).size,
    },
    tasks,
    held_commands: undecided?.filter(({ state }) => state.state === 'held').length ?? null,
    undecided_commands: undecided?.length ?? null,
    requests_in_flight: parts.requests.inFlight(),
    counters: parts.counters.read(),
    tight: [...(tight ?? []), ...tightJournal(entries ?? [])],
    faults,
  }
}

/** What `read` gives, or null with its refusal among the faults: a status must come whatever is broken. */
async function orFault<T>(faults: string[], read: () => Promise<T>): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    if (!isRefusal(error)) throw error
    faults.push(reasonOf(error))
    return null
  }
}

function countByStatus(tasks: readonly Task[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of tasks) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Waits for `work`, but no longer than `ms` milliseconds. */
async function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  await new Promise<void>((resolve) => {
    const limit = clock.after(ms, resolve)
    void work.finally(() => {
      limit.cancel()
      resolve()
    })
  })
}
