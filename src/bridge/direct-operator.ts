import { type DeviceCommands, openDeviceCommands } from '../commands/device-commands.ts'
import { settle } from '../host/settle.ts'
import { steeringRow } from '../host/steering.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import type { Random } from '../seams/random.ts'
import { openArchive } from '../store/archive.ts'
import { openTaskStore } from '../store/tasks/store.ts'
import { openAccessBook } from './access/book.ts'
import { standsNow } from './access/principal.ts'
import { notRunning } from './control-call.ts'
import { openHome } from './home.ts'
import { localOperator } from './local-operator.ts'
import { type Log, silentLog } from './log.ts'
import type { Operator } from './operator.ts'

export interface DirectDeps {
  readonly disk: Disk
  readonly clock: Clock
  readonly random: Random
  /** Absolute. */
  readonly home: string
  readonly log?: Log
}

/**
 * The operator of a home that no service runs on: the same functions, directly on the files. The caller holds the
 * service's lock meanwhile. What a continued turn needs next, the next service does.
 * @returns the operator, and the end that saves and closes what was opened
 */
export async function openDirectOperator(
  deps: DirectDeps,
): Promise<{ operator: Operator; close(): Promise<void> }> {
  const { disk, clock, random, log = silentLog } = deps
  const { paths, hostKey, settings } = await openHome(disk, deps.home)
  const { owner, relays, workspaces } = settings
  const book = await openAccessBook(disk, clock, paths, { host: hostKey.publicKey, owner })
  let opening: Promise<OpenCommands> | null = null
  const openCommands = async (): Promise<OpenCommands> => {
    const tasks = await openTaskStore(disk, clock, paths.tasks)
    const commands = await openDeviceCommands({
      disk,
      clock,
      dir: paths.tasks,
      tasks,
      log,
      steeringOf: (task) => steeringRow(task.intent.configuration.adapter),
      standing: (sender) => standsNow(book.read(), sender, nowSeconds(clock)),
      archived: openArchive(disk, paths.tasks).isArchived,
      settle: async (taskId) => void (await settle({ disk, tasks }, taskId)),
      continued() {},
    })
    return {
      commands,
      async close() {
        await commands.close()
        await tasks.close()
      },
    }
  }
  const shared = localOperator({
    access: { clock, random, book, forget() {} },
    commands: async () => {
      opening ??= openCommands()
      return (await opening).commands
    },
    relays: () => relays,
    owner,
  })
  return {
    operator: {
      ...shared,
      async requestEnrollment() {
        throw notRunning()
      },
      async taskChanged() {},
      reload: async () => ({ relays, workspaces }),
      async status() {
        throw notRunning()
      },
    },
    async close() {
      if (opening !== null) await (await opening).close()
      await book.close()
    },
  }
}

interface OpenCommands {
  readonly commands: DeviceCommands
  close(): Promise<void>
}
