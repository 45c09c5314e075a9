import type { DeviceCommands } from '../../src/commands/device-commands.ts'
import type { EntryState } from '../../src/commands/journal-entry.ts'
import { Refusal } from '../../src/protocol/refusal.ts'
import type { Disk } from '../../src/seams/disk.ts'
import type { TaskStore } from '../../src/store/tasks/store.ts'
import type { Receipt } from '../../src/store/tasks/task.ts'
import { wholeOf } from '../support/file-content.ts'
import type { Sabotage } from './world.ts'

/** A fault put into the host on purpose, and the invariant that has to notice it. */
export interface Planted {
  readonly fault: string
  readonly invariant: string
  readonly sabotage: () => Sabotage
}

const conflict: EntryState = { state: 'done', outcome: 'rejected', reason: 'conflict' }

export const planted: readonly Planted[] = [
  {
    fault: 'a journal that is written in two halves',
    invariant: 'commands.json always parses',
    sabotage: () => ({
      disk: replacing(async (disk, path, bytes) => {
        await disk.replace(path, bytes.subarray(0, bytes.length / 2))
        await disk.replace(path, bytes)
      }),
    }),
  },
  {
    fault: 'a journal that says it is written before it is',
    invariant: 'an acknowledged command is in the journal',
    sabotage: () => ({
      disk: replacing(async (disk, path, bytes) => {
        void disk.replace(path, bytes).catch(() => undefined)
      }),
    }),
  },
  {
    fault: 'a store command ID that differs with every attempt',
    invariant: 'a command has one effect at most',
    sabotage: () => {
      let attempts = 0
      return {
        tasks: applying((tasks, bytes, sender) => {
          attempts += 1
          const command = JSON.parse(new TextDecoder().decode(bytes))
          const other = { ...command, command_id: `${command.command_id}-${attempts}` }
          return tasks.apply(new TextEncoder().encode(JSON.stringify(other)), sender)
        }),
      }
    },
  },
  {
    fault: 'a store that says applied and does nothing',
    invariant: 'what was said to be applied is in the store',
    sabotage: () => ({ tasks: applying(applyNothing) }),
  },
  {
    fault: 'a store that says applied and does nothing',
    invariant: 'what the journal says agrees with the store',
    sabotage: () => ({ tasks: applying(applyNothing) }),
  },
  {
    fault: 'a recorder that lets go of a message and takes it up later',
    invariant: 'what a device sends takes effect in its order',
    sabotage: () => ({
      commands: (commands) => ({
        ...commands,
        async record(sender, request) {
          if (request.kind !== 'queue' || Number(`0x${request.command}`) % 2 === 0) {
            return await commands.record(sender, request)
          }
          setImmediate(() => setImmediate(() => void commands.record(sender, request).catch(() => undefined)))
          return { state: 'held', priority: false }
        },
      }),
    }),
  },
  {
    fault: 'an interrupt that forgets which turn it was meant for',
    invariant: 'an interrupt never touches a later turn',
    sabotage: () => ({
      commands: (commands) => ({
        ...commands,
        record: (sender, request) =>
          commands.record(
            sender,
            request.kind === 'interrupt' ? { ...request, based_on: 1_000_000 } : request,
          ),
      }),
    }),
  },
  {
    fault: 'an engine that is given an earlier text',
    invariant: 'a text reaches the engine once',
    sabotage: () => ({
      prompt: (prompt, { started }) => [...started.keys()].find((text) => text.startsWith('text ')) ?? prompt,
    }),
  },
  {
    fault: 'a removal that is acknowledged and not done',
    invariant: 'a removed message never runs',
    sabotage: () => ({ commands: onlyListing('remove') }),
  },
  {
    fault: 'an edit that is acknowledged and not done',
    invariant: 'a message runs with its last acknowledged text',
    sabotage: () => ({ commands: onlyListing('edit') }),
  },
  {
    fault: 'an answer that takes what waits for refused',
    invariant: 'what was said to be final stays',
    sabotage: () => ({ commands: answering((state) => (state.state === 'held' ? conflict : state)) }),
  },
  {
    fault: 'an answer that takes what was applied for refused',
    invariant: 'what was refused has no effect',
    sabotage: () => ({
      commands: answering((state) => ('outcome' in state && state.outcome === 'applied' ? conflict : state)),
    }),
  },
  {
    fault: 'an answer that takes everything for refused',
    invariant: 'every device learns one disposition',
    sabotage: () => ({ commands: answering(() => conflict) }),
  },
  {
    fault: 'the end of a turn that wakes nobody',
    invariant: 'nothing is held while its task has ended',
    sabotage: () => ({ commands: (commands) => ({ ...commands, evaluate: async () => {} }) }),
  },
  {
    fault: 'a store whose answers are always lost',
    invariant: 'every command is decided, or waits for what is not known',
    sabotage: () => ({
      tasks: applying(async (tasks, ...call) => {
        await tasks.apply(...call).catch(() => undefined)
        throw new Refusal('io', 'no answer')
      }),
    }),
  },
  {
    fault: 'a sender that stands only most of the time',
    invariant: 'no queued message is lost',
    sabotage: () => {
      let asked = 0
      return {
        standing: () => {
          asked += 1
          return asked % 7 !== 0
        },
      }
    },
  },
  {
    fault: 'a journal that is written from its end',
    invariant: 'queued messages run in the order of the journal',
    sabotage: () => ({
      disk: replacing(async (disk, path, bytes) => {
        const file = JSON.parse(new TextDecoder().decode(bytes))
        const turned = { ...file, entries: file.entries.reverse() }
        await disk.replace(path, new TextEncoder().encode(JSON.stringify(turned)))
      }),
    }),
  },
  {
    fault: 'a revoked sender that is let through',
    invariant: 'a revoked sender has no effect',
    sabotage: () => ({ standing: () => true }),
  },
  {
    fault: 'a lease that is acknowledged and not taken',
    invariant: 'no message runs while a device holds the lease',
    sabotage: () => ({
      commands: (commands) => ({
        ...commands,
        async edit(sender, task, edit) {
          if (edit.action !== 'lease') return await commands.edit(sender, task, edit)
          const view = await commands.edit(sender, task, { action: 'list' })
          return { ...view, lease: { device: sender.device, expires_at: Number.MAX_SAFE_INTEGER } }
        },
      }),
    }),
  },
  {
    fault: 'answers that never arrive',
    invariant: 'the world comes to rest',
    sabotage: () => ({
      loses: (message) => message.to === 'device' && message.sent.request.kind === 'steer',
    }),
  },
]

function replacing(replace: (disk: Disk, path: string, bytes: Uint8Array) => Promise<void>) {
  return (disk: Disk): Disk => ({
    ...disk,
    async replace(path, content, options) {
      if (!path.endsWith('/commands.json')) return await disk.replace(path, content, options)
      await replace(disk, path, Uint8Array.from(wholeOf(content)))
    },
  })
}

function applying(
  apply: (tasks: TaskStore, ...call: Parameters<TaskStore['apply']>) => ReturnType<TaskStore['apply']>,
) {
  return (tasks: TaskStore): TaskStore => ({ ...tasks, apply: (...call) => apply(tasks, ...call) })
}

function onlyListing(action: 'remove' | 'edit') {
  return (commands: DeviceCommands): DeviceCommands => ({
    ...commands,
    async edit(sender, task, edit) {
      const view = await commands.edit(sender, task, { action: 'list' })
      const isOwnToo = edit.action === action && view.items.some(({ command }) => command === edit.command)
      return isOwnToo ? view : await commands.edit(sender, task, edit)
    },
  })
}

function answering(answer: (state: EntryState) => EntryState) {
  return (commands: DeviceCommands): DeviceCommands => ({
    ...commands,
    record: async (sender, request) => answer(await commands.record(sender, request)),
  })
}

async function applyNothing(tasks: TaskStore, bytes: Uint8Array): Promise<Receipt> {
  const { command_id, task_id, expected_revision } = JSON.parse(new TextDecoder().decode(bytes))
  const { status, execution, checks } = await tasks.show(task_id)
  const schema = 'openagents.coder.task-receipt.v1'
  const numbers = { request_digest: `sha256:${'0'.repeat(64)}`, sequence: 1, revision: expected_revision + 1 }
  return { schema, command_id, task_id, ...numbers, status, execution, checks }
}
