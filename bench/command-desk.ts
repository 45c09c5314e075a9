import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DeviceCommands, openDeviceCommands } from '../src/commands/device-commands.ts'
import type { CommandKind, CommandRequest, Entry, Sender } from '../src/commands/journal-entry.ts'
import { createAssembler, encodeEntry } from '../src/commands/journal-file.ts'
import { nowSeconds, systemClock } from '../src/seams/clock.ts'
import { randomId, systemRandom } from '../src/seams/random.ts'
import { realDisk } from '../src/store/disk.ts'
import { openTaskStore, type TaskStore } from '../src/store/tasks/store.ts'
import { steering, submitTask } from '../test/support/turns.ts'

/** The production journal and task store on the real disk, without a service around them. */
export interface CommandDesk {
  readonly dir: string
  /** The journal's file. */
  readonly journal: string
  readonly tasks: TaskStore
  readonly commands: DeviceCommands
  /** Durable replacements of the journal so far. */
  writes(): number
  /** Writes what is only marked, and removes every file. */
  strike(): Promise<void>
}

/** Opens a desk with queued tasks. @param entries commands, applied long ago, that its journal has already */
export async function openCommandDesk(tasks: readonly string[], entries = 0): Promise<CommandDesk> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'drawbridge-desk-')))
  const journal = join(dir, 'commands.json')
  const store = await openTaskStore(realDisk, systemClock, dir)
  for (const task of tasks) await submitTask(store, task)
  await realDisk.replace(journal, journalOf(entries))
  let writes = 0
  const commands = await openDeviceCommands({
    disk: {
      ...realDisk,
      replace(path, content, options) {
        if (path === journal) writes += 1
        return realDisk.replace(path, content, options)
      },
    },
    clock: systemClock,
    dir,
    tasks: store,
    log: { warn: complain, error: complain },
    steeringOf: () => steering(),
    standing: () => true,
    archived: async () => false,
    settle: async () => {},
    continued() {},
  })
  return {
    dir,
    journal,
    tasks: store,
    commands,
    writes: () => writes,
    async strike() {
      await commands.close()
      await store.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** The bytes of a journal with so many commands that were applied, each of a line of text. */
export function journalOf(entries: number): Uint8Array {
  const rows = Array.from({ length: entries }, () => ({ bytes: encodeEntry(appliedEntry()) }))
  return Uint8Array.from(createAssembler()(rows, []))
}

/** So many devices, each with a grant. */
export function senders(count: number): Sender[] {
  return Array.from({ length: count }, () => ({
    device: randomId(systemRandom),
    grant: '1'.repeat(64),
    epoch: 0,
  }))
}

/** A command as a device would mint it now. */
export function mint(task: string, kind: CommandKind): CommandRequest {
  const issued_at = nowSeconds(systemClock)
  const text = 'A correction: keep the links, and leave the dates as they are.'
  return { command: randomId(systemRandom), task, kind, based_on: 1, text, emulate: false, issued_at }
}

function appliedEntry(): Entry {
  return {
    sender: { device: 'd'.repeat(64), grant: '1'.repeat(64), epoch: 0 },
    request: mint('earlier', 'steer'),
    received_at: nowSeconds(systemClock),
    state: { state: 'done', outcome: 'applied', revision: 2 },
  }
}

function complain(message: string, facts?: object): void {
  console.error(`${message} ${JSON.stringify(facts ?? {})}`)
}
