import { type DeviceCommands, openDeviceCommands } from '../../src/commands/device-commands.ts'
import type { CommandRequest, EntryState, Sender } from '../../src/commands/journal-entry.ts'
import { type JournalFile, parseJournal } from '../../src/commands/journal-file.ts'
import type { QueueEdit } from '../../src/protocol/operations/commands.ts'
import { isRefusal } from '../../src/protocol/refusal.ts'
import { openTaskStore, type TaskStore } from '../../src/store/tasks/store.ts'
import type { Task } from '../../src/store/tasks/task.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { type SimulatedMachine, simulatedMachine } from './simulated-disk.ts'
import { beginTurn, endTurn, steering, submitTask } from './turns.ts'

/** A command that a device sent, and all that it was ever told of it. */
export interface Sent {
  readonly sender: Sender
  readonly request: CommandRequest
  readonly told: EntryState[]
  /** Texts put in its place: those acknowledged, in order, and those whose answer never came. */
  readonly edits: { text: string; acknowledged: boolean }[]
  removed: boolean
  promoted: boolean
}

/** The commands of a real task store on a machine that crashes; everything else is as in production. */
export interface World {
  readonly machine: SimulatedMachine
  readonly clock: FakeClock
  readonly sent: Sent[]
  readonly task: string
  readonly revoked: Set<string>
  emulates: boolean
  send(sender: Sender, of: Pick<CommandRequest, 'kind' | 'emulate'>): void
  replay(index: number): void
  edit(sender: Sender, edit: QueueEdit, index?: number): void
  /** From now on nothing of this device may have an effect. */
  revoke(sender: Sender): void
  begin(): void
  end(): void
  /** Waits for everything that was begun. */
  settle(): Promise<void>
  /** Cuts everything off after some more calls of the disk, and starts anew. */
  crash(after: number): Promise<void>
  /** Runs turn after turn until nothing waits any more. */
  rest(): Promise<void>
  journal(): JournalFile
  stored(): { readonly task: Task; readonly commands: readonly StoredCommand[] }
}

export interface StoredCommand {
  readonly id: string
  readonly revision: number
  readonly action: { readonly type: string; readonly prompt?: string; readonly reason?: string }
}

const dir = '/machine/tasks'

/** @param seed the same seed gives the same world */
export async function openWorld(seed: number): Promise<World> {
  const machine = simulatedMachine(lcg(seed))
  const clock = fakeClock()
  const task = 'task-1'
  let tasks: TaskStore
  let commands: DeviceCommands
  let open: Promise<unknown>[] = []
  let minted = 0

  const start = async (): Promise<void> => {
    const disk = machine.boot()
    tasks = await openTaskStore(disk, clock, dir)
    commands = await openDeviceCommands({
      ...{ disk, clock, dir, tasks },
      steeringOf: () => steering({ emulation: world.emulates ? 'cancel_and_continue' : null }),
      standing: (sender) => !world.revoked.has(sender.device),
      archived: async () => false,
      settle: async () => {},
      continued: () => {},
      log: { warn() {}, error() {} },
    })
  }

  /** Begins something; a refusal is an answer too, and a life that ends takes its answers with it. */
  const begin = (work: Promise<unknown>): void => {
    const ended = work.catch((error) => {
      if (!isRefusal(error)) throw error
    })
    open.push(ended)
  }

  const world: World = {
    machine,
    clock,
    sent: [],
    task,
    revoked: new Set(),
    emulates: false,
    send(sender, of) {
      minted += 1
      const sent: Sent = {
        sender,
        request: {
          command: minted.toString(16).padStart(64, '0'),
          task,
          ...of,
          based_on: world.stored().task.revision,
          text: `text ${minted}`,
          issued_at: Math.floor(clock.nowMs() / 1_000),
        },
        told: [],
        edits: [],
        removed: false,
        promoted: false,
      }
      world.sent.push(sent)
      begin(commands.record(sender, sent.request).then((state) => sent.told.push(state)))
    },
    replay(index) {
      const sent = world.sent[index]
      if (sent === undefined) return
      begin(commands.record(sent.sender, sent.request).then((state) => sent.told.push(state)))
    },
    edit(sender, edit, index = -1) {
      const sent = world.sent[index]
      if (edit.action === 'send_now' && sent !== undefined) sent.promoted = true
      const change = edit.action === 'edit' ? { text: edit.text, acknowledged: false } : null
      if (change !== null) sent?.edits.push(change)
      const done = commands
        .edit(sender, task, { action: 'lease' })
        .then(() => commands.edit(sender, task, edit))
        .then(
          () => {
            if (change !== null) change.acknowledged = true
            if (edit.action === 'remove' && sent !== undefined) sent.removed = true
          },
          (error) => {
            // Refused for certain, so it is as if it had never been asked; unavailable may have happened.
            if (change !== null && !isRefusal(error, 'unavailable'))
              sent?.edits.splice(sent.edits.indexOf(change), 1)
            throw error
          },
        )
      begin(done)
    },
    revoke(sender) {
      world.revoked.add(sender.device)
      void commands.evaluateAll()
    },
    begin: () => begin(beginTurn(tasks, task).then(() => commands.evaluate(task))),
    end: () => begin(endTurn(tasks, task).then(() => commands.evaluate(task))),
    async settle() {
      await Promise.all(open.splice(0))
    },
    async crash(after) {
      // In the middle of things, if there are that many calls left; else when all is over.
      const crashed = machine.crashAfter(after)
      await Promise.race([crashed, Promise.all(open)])
      machine.crash()
      open = []
      machine.fate = () => 'done'
      await start()
      await commands.evaluateAll()
    },
    async rest() {
      await world.crash(0)
      clock.jump(60_000)
      for (;;) {
        await commands.evaluateAll()
        const { status } = await tasks.show(task)
        if (status === 'queued') await beginTurn(tasks, task)
        else if (status === 'running' || status === 'cancel_requested') await endTurn(tasks, task)
        else break
      }
      await commands.close()
    },
    journal: () => parseJournal(machine.peek(`${dir}/commands.json`) ?? new Uint8Array(0)),
    stored() {
      const file = JSON.parse(new TextDecoder().decode(machine.peek(`${dir}/task/${task}.json`) ?? undefined))
      return { task: file.task, commands: file.commands.map(storedCommand) }
    },
  }
  await start()
  // biome-ignore lint/style/noNonNullAssertion: start sets it
  await submitTask(tasks!, task)
  return world
}

function storedCommand({
  request,
  receipt,
}: {
  request: string
  receipt: { revision: number }
}): StoredCommand {
  const { command_id, action } = JSON.parse(request)
  return { id: command_id, revision: receipt.revision, action }
}

/** A repeatable source of numbers from 0 to 1. */
function lcg(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
