import type { Operation } from '../../src/protocol/operations.ts'
import { id } from '../support/access.ts'
import { type RefusalRow, row } from './refusal-rows.ts'

const nowhere = id(0x77)
const bell = 'Ring the \u0007.'
const create = (changes: object): Operation => ({
  kind: 'task.create',
  task: { title: 'Tidy', prompt: 'Sort the entries.', workspace: 'site', ...changes },
})
const steer = (task: string, changes: object = {}): Operation => ({
  kind: 'task.steer',
  task,
  revision: 1,
  prompt: 'Only the last ten.',
  ...changes,
})
const cancel = (task: string, revision = 1): Operation => ({
  kind: 'task.cancel',
  task,
  revision,
  reason: 'Enough.',
})
const edit = (task: string, given: Extract<Operation, { kind: 'task.queue' }>['edit']): Operation => ({
  kind: 'task.queue',
  task,
  edit: given,
})
const read = (task: string, changes: object = {}): Operation => ({
  kind: 'task.read',
  query: { workspace: 'site', task, revision: null, cursor: null, limit: 8, ...changes },
})

/** What the operations on tasks are refused for. @see spec/wire.md §6 */
export const taskRows: readonly RefusalRow[] = [
  row('forbidden', 'a create in an unknown workspace', (on) =>
    on.refused(on.phone, create({ workspace: 'attic' })),
  ),
  row('bounds', 'a create with control characters', (on) => on.refused(on.phone, create({ prompt: bell }))),
  row('forbidden', 'a steer of an unknown task', (on) => on.refused(on.phone, steer(nowhere))),
  row('stale', 'a steer at another revision', async (on) =>
    on.refused(on.phone, steer(await on.task(), { revision: 4 })),
  ),
  row('bounds', 'a steer with control characters', async (on) =>
    on.refused(on.phone, steer(await on.task(), { prompt: bell })),
  ),
  row('forbidden', 'a cancel of an unknown task', (on) => on.refused(on.phone, cancel(nowhere))),
  row('stale', 'a cancel at another revision', async (on) =>
    on.refused(on.phone, cancel(await on.task(), 4)),
  ),
  row('conflict', 'a cancel of a cancelled task', async (on) => {
    const task = await on.task()
    await on.phone.ask(cancel(task))
    return on.refused(on.phone, cancel(task, 2))
  }),
  row('forbidden', 'an archive of an unknown task', (on) =>
    on.refused(on.phone, { kind: 'task.archive', task: nowhere }),
  ),
  row('conflict', 'an archive of a task that has not ended', async (on) =>
    on.refused(on.phone, { kind: 'task.archive', task: await on.task() }),
  ),

  row('forbidden', 'a command to an unknown task', (on) => on.refused(on.phone, on.command(nowhere))),
  row('conflict', 'a command ID that stands for another command', async (on) => {
    const [task, command] = [await on.task(), id(0xc7)]
    await on.phone.ask(on.command(task, { command }))
    return on.refused(on.phone, on.command(task, { command, text: 'Other.' }))
  }),
  row('conflict', 'a send to a task whose turn has not ended', async (on) =>
    on.refused(on.phone, on.command(await on.task(), { action: 'send' })),
  ),
  row('conflict', 'an answer to no question', async (on) =>
    on.refused(on.phone, on.command(await on.task(), { action: 'answer' })),
  ),
  row('conflict', 'a command to a task that was put away', async (on) => {
    const task = await on.task()
    await on.phone.ask(cancel(task))
    await on.phone.ask({ kind: 'task.archive', task })
    return on.refused(on.phone, on.command(task))
  }),
  row('expired', 'a command that is older than a day', async (on) =>
    on.refused(on.phone, on.command(await on.task(), { issued_at: on.now() - 86_402 })),
  ),
  row('bounds', 'a command dated more than five minutes ahead', async (on) =>
    on.refused(on.phone, on.command(await on.task(), { issued_at: on.now() + 310 })),
  ),
  row('bounds', 'a command with control characters', async (on) =>
    on.refused(on.phone, on.command(await on.task(), { text: bell })),
  ),
  row('unsupported', 'a steer while the turn runs', async (on) =>
    on.refused(on.phone, on.command(await on.running(), { action: 'steer', based_on: 2 })),
  ),
  row('unsupported', 'an emulated steer, where the engine has no emulation', async (on) =>
    on.refused(on.phone, on.command(await on.running(), { action: 'steer', emulate: true, based_on: 2 })),
  ),
  row('stale', 'an interrupt of an earlier turn', async (on) => {
    const task = await on.running()
    return on.refused(on.phone, on.command(task, { action: 'interrupt', based_on: 0, text: 'Stop.' }))
  }),

  row('forbidden', 'a look at the queue of an unknown task', (on) =>
    on.refused(on.phone, edit(nowhere, { action: 'list' })),
  ),
  row('conflict', 'an edit without the lease', async (on) =>
    on.refused(on.phone, edit(await on.task(), { action: 'remove', command: id(1) })),
  ),
  row('conflict', "another device's lease", async (on) => {
    const task = await on.task()
    await on.phone.ask(edit(task, { action: 'lease' }))
    return on.refused(on.tablet, edit(task, { action: 'lease' }))
  }),
  row('forbidden', 'an edit of a message of another device', async (on) => {
    const [task, command] = [await on.task(), id(0xc8)]
    await on.phone.ask(on.command(task, { command }))
    await on.tablet.ask(edit(task, { action: 'lease' }))
    return on.refused(on.tablet, edit(task, { action: 'edit', command, text: 'Mine.' }))
  }),
  row('conflict', 'an order of other messages than are held', async (on) => {
    const task = await on.task()
    await on.phone.ask(edit(task, { action: 'lease' }))
    return on.refused(on.phone, edit(task, { action: 'reorder', commands: [id(1)] }))
  }),
  row('unsupported', 'a message sent at once while the turn runs', async (on) => {
    const [task, command] = [await on.running(), id(0xc9)]
    await on.phone.ask(on.command(task, { command, based_on: 2 }))
    await on.phone.ask(edit(task, { action: 'lease' }))
    return on.refused(on.phone, edit(task, { action: 'send_now', command }))
  }),

  row('forbidden', 'a list of an unknown workspace', (on) =>
    on.refused(on.phone, {
      kind: 'task.list',
      query: { workspace: 'attic', cursor: null, limit: 1 },
    }),
  ),
  row('malformed', 'a list after a cursor that is none', (on) =>
    on.refused(on.phone, { kind: 'task.list', query: { workspace: 'site', cursor: 'page 2', limit: 1 } }),
  ),
  row('forbidden', 'a read of an unknown task', (on) => on.refused(on.phone, read(nowhere))),
  row('stale', 'a read at another revision', async (on) =>
    on.refused(on.phone, read(await on.task(), { revision: 9 })),
  ),
  row('stale', 'a read of a turn that was not', async (on) =>
    on.refused(on.phone, read(await on.task(), { cursor: '2.1' })),
  ),
  row('malformed', 'a read from a cursor that is none', async (on) =>
    on.refused(on.phone, read(await on.task(), { cursor: 'newest' })),
  ),
  row('unavailable', 'an operation that this host has no owner of', (on) =>
    on.refused(on.phone, { kind: 'terminal.open', cols: 80, rows: 24 }),
  ),
]
