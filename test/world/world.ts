import { standsNow } from '../../src/bridge/access/principal.ts'
import type { AccessRecord } from '../../src/bridge/access/record.ts'
import { silentLog } from '../../src/bridge/log.ts'
import { reopeningStore } from '../../src/bridge/reopening-store.ts'
import { type DeviceCommands, openDeviceCommands } from '../../src/commands/device-commands.ts'
import type { Entry } from '../../src/commands/journal-entry.ts'
import type { SteeringRow } from '../../src/host/steering.ts'
import { isRefusal } from '../../src/protocol/refusal.ts'
import { breathe } from '../../src/seams/clock.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { type Archive, openArchive } from '../../src/store/archive.ts'
import { openTaskStore, type TaskStore } from '../../src/store/tasks/store.ts'
import { dice } from '../support/dice.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { type SimulatedMachine, simulatedMachine } from '../support/simulated-disk.ts'
import { settleGoneTurn, steering, submitTask } from '../support/turns.ts'
import { firstRecord, taskIds } from './cast.ts'
import { type EffectWatch, watchEffects } from './effects.ts'
import { type OnDisk, onDisk, storeDir } from './on-disk.ts'
import type { Answer, Message, Sent } from './sent.ts'
import type { Tally } from './tally.ts'

/** One life of the host: the production store, journal and archive on a disk that forgets what was not synced. */
export interface Host {
  readonly tasks: TaskStore
  readonly archive: Archive
  readonly commands: DeviceCommands
}

/** What is not as it should be. */
export interface Violation {
  readonly invariant: string
  readonly detail: string
}

/** What a test breaks, to see that the world notices. Each takes the place of the part that it is given. */
export interface Sabotage {
  disk?(disk: Disk): Disk
  tasks?(tasks: TaskStore): TaskStore
  commands?(commands: DeviceCommands): DeviceCommands
  standing?(): boolean
  /** What an engine is started with instead of this. */
  prompt?(prompt: string, world: World): string
  /** The only invariant whose violation counts. */
  readonly looksFor?: string
  /** Whether a message may be lost for good. */
  loses?(message: Message): boolean
}

export interface World {
  readonly machine: SimulatedMachine
  readonly clock: FakeClock
  readonly sabotage: Sabotage
  host: Host
  record: AccessRecord
  engine: SteeringRow
  readonly sent: Sent[]
  /** On its way between devices and host. */
  readonly bag: Message[]
  /** The edits that arrived, by their ID. */
  readonly edits: Map<number, 'begun' | Answer>
  readonly watch: EffectWatch
  /** How often an engine was started with a text. */
  readonly started: Map<string, number>
  /** Tasks whose owner died unseen. */
  readonly lost: Set<string>
  readonly archived: Set<string>
  /** Tasks that somebody asked to archive, and devices that lost a grant, at any time. */
  readonly everArchived: Set<string>
  readonly everRevoked: Set<string>
  /** When commands were issued by devices whose clock is ahead. */
  readonly aheadAt: Set<number>
  /** Unix seconds. */
  readonly began: number
  /** Tasks whose messages somebody put into another order. */
  readonly moved: Set<string>
  readonly violations: Violation[]
  /** Counts happenings, so that one can be said to be before another. */
  tick: number
  /** No call of the disk failed in this life of the host. */
  calm: boolean
  asked: number
  /** What was on the disk when it was last looked at. */
  looked: OnDisk | null
  readonly tally: Tally
}

/** A world before anything happened: two tasks, two devices under grants, the owner. */
export async function openWorld(seed: number, tally: Tally, sabotage: Sabotage = {}): Promise<World> {
  const machine = simulatedMachine(dice(seed).next)
  const clock = fakeClock()
  const world: World = {
    machine,
    clock,
    sabotage,
    host: undefined as unknown as Host,
    record: firstRecord(Math.floor(clock.nowMs() / 1_000)),
    engine: steering({ emulation: 'cancel_and_continue' }),
    sent: [],
    bag: [],
    edits: new Map(),
    watch: watchEffects(),
    started: new Map(),
    lost: new Set(),
    archived: new Set(),
    everArchived: new Set(),
    everRevoked: new Set(),
    aheadAt: new Set(),
    began: Math.floor(clock.nowMs() / 1_000),
    moved: new Set(),
    violations: [],
    tick: 0,
    calm: true,
    asked: 0,
    looked: null,
    tally,
  }
  await startHost(world)
  for (const task of taskIds) await submitTask(world.host.tasks, task)
  return world
}

export function nowOf({ clock }: World): number {
  return Math.floor(clock.nowMs() / 1_000)
}

/** Starts the host: as after a boot, since whatever lived before is gone. */
export async function startHost(world: World): Promise<void> {
  const { machine, clock, sabotage } = world
  const booted = machine.boot()
  const disk = sabotage.disk?.(booted) ?? booted
  const tasks = await reopeningStore(() => openTaskStore(disk, clock, storeDir), silentLog)
  const watched = watching(world, tasks)
  const archive = openArchive(disk, storeDir)
  const commands = await openDeviceCommands({
    disk,
    clock,
    dir: storeDir,
    tasks: sabotage.tasks?.(watched) ?? watched,
    steeringOf: () => world.engine,
    standing: (sender) => sabotage.standing?.() ?? standsNow(world.record, sender, nowOf(world)),
    archived: archive.isArchived,
    settle: (task) => settleLost(world, task),
    continued: () => {},
    log: { warn() {}, error() {} },
  })
  world.host = { tasks, archive, commands: sabotage.commands?.(commands) ?? commands }
  world.calm = true
}

/**
 * Lets everything that can go on go on. Nothing in the world waits for anything but promises, its own clock, and its
 * turn: a few tasks are evaluated in each round of the event loop.
 */
export async function quiet(): Promise<void> {
  for (let round = 0; round < quietRounds; round += 1) await breathe()
}

const quietRounds = 8

/** Does what may be refused; what is cut off by a crash never ends. */
export function attempt(work: Promise<unknown>): Promise<void> {
  return work.then(
    () => {},
    (error: unknown) => {
      if (!isRefusal(error)) throw error
    },
  )
}

/** Records the end of a turn whose owner died. */
export async function settleLost(world: World, task: string): Promise<void> {
  if (!world.lost.has(task)) return
  const { status } = await world.host.tasks.show(task)
  if (status === 'running' || status === 'cancel_requested') await settleGoneTurn(world.host.tasks, task)
  world.lost.delete(task)
}

/** Looks at every command that is handed to the store, at that moment. */
function watching(world: World, tasks: TaskStore): TaskStore {
  return {
    ...tasks,
    apply(bytes, by) {
      const { command_id, action } = JSON.parse(new TextDecoder().decode(bytes))
      const entry = dispatchedAs(world, bytes)
      if (entry !== null) {
        const known = hasCommand(world, entry.request.task, command_id)
        const around = { record: world.record, now: nowOf(world), known }
        const invariant = world.watch.applying(entry, action.type, around)
        if (invariant !== null) world.violations.push({ invariant, detail: entry.request.text })
      }
      return tasks.apply(bytes, by)
    },
  }
}

function dispatchedAs(world: World, bytes: Uint8Array): Entry | null {
  const text = new TextDecoder().decode(bytes)
  const { task_id } = JSON.parse(text)
  const isIt = ({ state }: Entry) => state.state === 'dispatching' && state.bytes === text
  return world.host.commands.entries(task_id).find(isIt) ?? null
}

function hasCommand({ machine }: World, task: string, id: string): boolean {
  const { tasks } = onDisk(machine, null)
  return tasks.get(task)?.commands.some((command) => command.id === id) === true
}
