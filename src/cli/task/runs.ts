import { executeGrant } from '../../host/owner/execute.ts'
import { measureDisk } from '../../host/probe/disk-space.ts'
import { recover as recoverTask } from '../../host/recover.ts'
import { settleAll, settle as settleTask } from '../../host/settle.ts'
import { startTask } from '../../host/start.ts'
import { boundedCommand } from '../../host/supervise/bounded-command.ts'
import { createLauncher } from '../../host/supervise/launch-owner.ts'
import { isRefusal, Refusal } from '../../protocol/refusal.ts'
import { realDisk } from '../../store/disk.ts'
import { storeDirectory, withStore } from '../deps.ts'
import type { Door } from '../door.ts'
import { readInput } from '../input.ts'
import { knownTask } from '../known-task.ts'
import type { Answer } from '../output.ts'
import { jsonLine } from '../printable.ts'
import { productVersion } from '../version.ts'

interface GrantOptions {
  grant: string
  store?: string | undefined
}

interface StoreOption {
  store?: string | undefined
}

/**
 * Starts the turn that a grant allows in a process of its own, and returns. Every failure is `start_owner`, with
 * the underlying message; a grant on standard input is `configuration`. @see spec/execution.md §12
 */
export async function start(door: Door, options: GrantOptions): Promise<Answer> {
  door.refuseRoot()
  if (options.grant === '-') throw new Refusal('configuration', 'start takes a grant from a file only')
  try {
    const bytes = await readInput(options.grant, 'read_grant')
    const { launch } = await withStore(door, options.store, (tasks) =>
      startTask(
        { disk: realDisk, clock: door.clock, tasks, launcher: createLauncher(door), pid: process.pid },
        bytes,
      ),
    )
    return said(launch)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const hint = error.hint === undefined ? {} : { hint: error.hint }
    throw new Refusal('start_owner', error.message, { cause: error, ...hint })
  }
}

/**
 * Runs the turn that a grant allows, to its end. Exit 0 whenever the result was recorded, whatever it is.
 * Refuses `read_grant`, then as the page says. @see spec/execution.md §4
 */
export async function execute(door: Door, options: GrantOptions): Promise<Answer> {
  door.refuseRoot()
  const bytes = await readInput(options.grant, 'read_grant')
  const task = await executeGrant(
    {
      disk: realDisk,
      clock: door.clock,
      engine: boundedCommand(door.clock),
      storeDir: await storeDirectory(door, options.store),
      home: door.home,
      version: productVersion,
      measureDisk,
    },
    bytes,
  )
  return said(task)
}

/** Closes a turn whose owner is gone; never dispatches. Refuses `store_busy` while an owner lives. */
export async function recover(door: Door, id: string, options: StoreOption): Promise<Answer> {
  const whole = await knownTask(door, options.store, id)
  return said(await withStore(door, options.store, (tasks) => recoverTask({ disk: realDisk, tasks }, whole)))
}

/** Ends every turn (or one task's) whose owner and processes are gone; the tasks that it ended. */
export async function settle(door: Door, id: string | undefined, options: StoreOption): Promise<Answer> {
  const whole = id === undefined ? undefined : await knownTask(door, options.store, id)
  return said(
    await withStore(door, options.store, async (tasks) => {
      if (whole === undefined) return settleAll({ disk: realDisk, tasks })
      const ended = await settleTask({ disk: realDisk, tasks }, whole)
      return ended === null ? [] : [ended]
    }),
  )
}

function said(json: unknown): Answer {
  return { json, text: jsonLine(json) }
}
