import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type AccessRecord, emptyAccessRecord } from '../../../src/bridge/access/record.ts'
import { controlClient } from '../../../src/bridge/control-client.ts'
import type { Counted } from '../../../src/bridge/counters.ts'
import { initHome } from '../../../src/bridge/home.ts'
import { silentLog } from '../../../src/bridge/log.ts'
import type { Operator } from '../../../src/bridge/operator.ts'
import { homePaths } from '../../../src/bridge/paths.ts'
import { sealGrant } from '../../../src/bridge/seal.ts'
import { changeServeSettings, withWorkspaces } from '../../../src/bridge/serve-settings.ts'
import { type Service, startService } from '../../../src/bridge/service.ts'
import type { NostrEvent } from '../../../src/protocol/event.ts'
import { fromHex } from '../../../src/protocol/hex.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import type { DiskLock } from '../../../src/seams/disk.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore } from '../../../src/store/tasks/store.ts'
import { grantEntry } from '../access.ts'
import { type FakeClock, fakeClock } from '../fake-clock.ts'
import { type TestKey, testKey } from '../keys.ts'
import { beginTurn, endTurn } from '../turns.ts'
import { cast, type Name, type Start, type Turn } from './fixture.ts'
import { orderlyDisk } from './orderly-disk.ts'
import { type PlayedRelays, playedRelays } from './played-relay.ts'
import { type SeededRandom, seededRandom } from './seeded-random.ts'

/** A real service on real files whose clock, relays and random bytes are given: it does the same in every run. */
export interface FreshHost {
  readonly clock: FakeClock
  readonly random: SeededRandom
  readonly relays: PlayedRelays
  readonly operator: Operator
  /** Resolves when everything that was set off has been done. */
  idle(): Promise<void>
  advance(seconds: number): Promise<void>
  restart(stored: readonly NostrEvent[]): Promise<void>
  turn(task: string, turn: Turn): Promise<void>
  counters(): Promise<Partial<Record<Counted, number>>>
  end(): Promise<void>
}

/** A connection that outlives every exchange. */
const foreverSeconds = 2_000_000

/** The key of one of the cast. */
export function keyOf(name: Name): TestKey {
  const known = keys.get(name)
  if (known !== undefined) return known
  const key = testKey(cast[name])
  keys.set(name, key)
  return key
}
const keys = new Map<Name, TestKey>()

/**
 * Starts a fresh host as an exchange says that it begins.
 * @param base an empty private directory
 */
export async function freshHost(start: Start, base: string): Promise<FreshHost> {
  let idle = async (): Promise<void> => {}
  const clock = fakeClock(start.at * 1000, () => idle())
  const disk = orderlyDisk(realDisk, clock.nowMs)
  idle = disk.idle
  const random = seededRandom()
  random.label('start')
  const relays = playedRelays(clock)
  const home = join(base, 'home')
  const deps = { disk, clock, random, home }
  await prepare(deps, start, base)

  let service: Service | null = null
  const begin = async (): Promise<void> => {
    service = await startService({
      ...deps,
      dial: relays.dial,
      launcher: { launch: () => Promise.reject(new Error('nothing is launched here')) },
      log: silentLog,
      pid: process.pid,
      relayLifetimeSeconds: start.connection_seconds ?? foreverSeconds,
    })
    await service.ready
    await disk.idle()
  }
  const running = (): Service => {
    if (service === null) throw new Error('the service is stopped')
    return service
  }
  await begin()

  const owners = new Map<string, DiskLock>()
  const turn = async (task: string, what: Turn): Promise<void> => {
    const tasks = await openTaskStore(disk, clock, homePaths(home).tasks)
    if (what === 'begins') {
      const owner = await disk.lock(tasks.ownerLockPath(task), 0, { create: true })
      owners.set(task, owner)
      await beginTurn(tasks, task, owner)
    } else {
      const owner = owners.get(task)
      await endTurn(tasks, task, { group_clear: what === 'ends' }, owner)
      await owner?.release()
    }
    await tasks.close()
    await disk.idle()
  }
  return {
    clock,
    random,
    relays,
    operator: controlClient({ ...deps, clock: systemClock }),
    idle: disk.idle,
    advance: (seconds) => clock.advance(seconds * 1000).then(disk.idle),
    async restart(stored) {
      relays.store(stored)
      await running().stop()
      await begin()
    },
    turn,
    counters: async () => (await running().status()).counters,
    async end() {
      await running().stop()
      for (const owner of owners.values()) await owner.release()
    },
  }
}

type Deps = Parameters<typeof initHome>[0] & { readonly random: SeededRandom }

/** Makes the home of a host whose key is known, with what it granted before. */
async function prepare(deps: Deps, start: Start, base: string): Promise<void> {
  const workspaces = start.workspaces.map((label) => ({ label, path: join(base, label) }))
  for (const { path } of workspaces) await mkdir(path)
  const host = keyOf('host')
  const owner = keyOf('owner').publicKey
  const known = { bytes: () => fromHex(host.secret) }
  await initHome({ ...deps, random: known }, { owner, relays: start.relays })
  // No turn runs in these, so they need not be what a turn needs.
  await changeServeSettings(deps.disk, homePaths(deps.home), withWorkspaces(workspaces))
  const sealer = { signer: host.signer, random: deps.random, keyOf: host.with }
  const grants = start.grants.map((grant) => ({
    ...grantEntry(),
    grant,
    authorization: sealGrant(sealer, grant),
  }))
  const before = emptyAccessRecord(host.publicKey, owner)
  const devices = [...new Set(start.grants.map(({ device }) => device))]
  const record: AccessRecord = {
    ...before,
    grants: [...grants, ...othersOf(start, grants[0])],
    epochs: devices.map((device) => ({ device, epoch: start.epochs?.[device] ?? 0 })),
  }
  await deps.disk.replace(
    homePaths(deps.home).access,
    new TextEncoder().encode(`${JSON.stringify(record)}\n`),
  )
}

/** Living grants of as many devices that never say anything. */
function othersOf(start: Start, like: AccessRecord['grants'][number] | undefined): AccessRecord['grants'] {
  return Array.from({ length: start.others ?? 0 }, (_, index) => {
    if (like === undefined) throw new Error('others are like the first grant')
    const grant = (index + 0x1000).toString(16).padStart(64, '0')
    const device = testKey(1_000 + index).publicKey
    return { ...like, grant: { ...like.grant, grant, device } }
  })
}
