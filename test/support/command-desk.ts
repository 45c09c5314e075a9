import { join } from 'node:path'
import {
  type DeviceCommands,
  type DeviceCommandsDeps,
  openDeviceCommands,
} from '../../src/commands/device-commands.ts'
import type { CommandKind, CommandRequest, Sender } from '../../src/commands/journal-entry.ts'
import { type JournalFile, parseJournal } from '../../src/commands/journal-file.ts'
import type { SteeringRow } from '../../src/host/steering.ts'
import { systemClock } from '../../src/seams/clock.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore, type TaskStore } from '../../src/store/tasks/store.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { wholeOf } from './file-content.ts'
import { tempDir } from './temp-dir.ts'
import { steering, submitTask } from './turns.ts'

/** The commands of a real task store on a real disk, with host time that a test moves. */
export interface Desk {
  readonly dir: string
  readonly path: string
  readonly clock: FakeClock
  readonly disk: CountingDisk
  readonly tasks: TaskStore
  commands: DeviceCommands
  /** What the engine of every task can do. */
  engine: SteeringRow
  /** Devices whose grant was revoked. */
  readonly revoked: Set<string>
  readonly archived: Set<string>
  /** Tasks of which a turn was continued, in order. */
  readonly continued: string[]
  readonly lines: string[]
  settle: (taskId: string) => Promise<void>
  now(): number
  /** A command as this device would mint it now. */
  mint(task: string, kind: CommandKind, text?: string, more?: Partial<CommandRequest>): CommandRequest
  /** The journal as it is on disk. */
  file(): Promise<JournalFile>
  /** Opens the commands again without having closed them, as after a crash. */
  restart(more?: Partial<DeviceCommandsDeps>): Promise<void>
}

/** A disk that counts its durable replacements of the journal and can be told to fail. */
export interface CountingDisk extends Disk {
  journalWrites: number
  /** Called before each replacement of the journal; what it throws is the replacement's failure. */
  beforeWrite: (bytes: Uint8Array) => void | Promise<void>
}

export const phone = device('d')
export const tablet = device('e')
export const owner: Sender = { device: 'f'.repeat(64), grant: null, epoch: null }

/** Opens a desk with the tasks named, each queued at revision 1. */
export async function openDesk(...tasks: string[]): Promise<Desk> {
  const dir = await tempDir()
  const store = await openTaskStore(realDisk, systemClock, dir)
  for (const task of tasks) await submitTask(store, task)
  const clock = fakeClock()
  const disk = countingDisk(realDisk, join(dir, 'commands.json'))
  const now = () => Math.floor(clock.nowMs() / 1_000)
  let minted = 0

  const deps = (): DeviceCommandsDeps => ({
    disk,
    clock,
    dir,
    tasks: store,
    steeringOf: () => desk.engine,
    standing: (sender) => !desk.revoked.has(sender.device),
    archived: async (task) => desk.archived.has(task),
    settle: (task) => desk.settle(task),
    continued: (task) => void desk.continued.push(task),
    log: {
      warn: (message, facts) => void desk.lines.push(`${message} ${JSON.stringify(facts ?? {})}`),
      error: (message, facts) => void desk.lines.push(`${message} ${JSON.stringify(facts ?? {})}`),
    },
  })

  const desk: Desk = {
    dir,
    path: join(dir, 'commands.json'),
    clock,
    disk,
    tasks: store,
    commands: undefined as unknown as DeviceCommands,
    engine: steering(),
    revoked: new Set(),
    archived: new Set(),
    continued: [],
    lines: [],
    settle: async () => {},
    now,
    mint(task, kind, text = 'And add a table.', more = {}) {
      minted += 1
      const command = minted.toString(16).padStart(64, '0')
      return { command, task, kind, based_on: 1, text, emulate: false, issued_at: now(), ...more }
    },
    async file() {
      const bytes = await realDisk.read(join(dir, 'commands.json'), 1 << 26)
      if (bytes === null) throw new Error('there is no journal')
      return parseJournal(bytes)
    },
    async restart(more = {}) {
      desk.commands = await openDeviceCommands({ ...deps(), ...more })
    },
  }
  await desk.restart()
  return desk
}

/** A disk that counts. */
export function countingDisk(disk: Disk, path: string): CountingDisk {
  const counting: CountingDisk = {
    ...disk,
    journalWrites: 0,
    beforeWrite() {},
    async replace(at, content, options) {
      if (at !== path) return await disk.replace(at, content, options)
      counting.journalWrites += 1
      await counting.beforeWrite(wholeOf(content))
      await disk.replace(at, content, options)
    },
  }
  return counting
}

function device(digit: string): Sender {
  return { device: digit.repeat(64), grant: '1'.repeat(64), epoch: 0 }
}
