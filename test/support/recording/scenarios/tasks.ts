import { id } from '../../access.ts'
import type { Scenario } from '../scene.ts'
import { everything, granted, list, scenario } from './common.ts'

const both = { grants: [granted('phone'), granted('tablet')] }
/** A control character that the wire lets through and the task store does not. */
const bell = 'Ring the \u0007.'

/** The operations on tasks, and what each may be refused for. */
export const tasks: readonly Scenario[] = [
  scenario('task-create', 'A device creates a task.', both, async (scene) => {
    await scene.ask('phone', list, 'workspaces')
    await scene.create('phone')
    const task = { title: 'Tidy', prompt: 'Sort the entries.', workspace: 'site' }
    await scene.ask(
      'phone',
      { kind: 'task.create', task: { ...task, workspace: 'attic' } },
      'refused forbidden',
      {
        why: '`task.create`: a workspace that the host does not have',
      },
    )
    await scene.ask('phone', { kind: 'task.create', task: { ...task, prompt: bell } }, 'refused bounds', {
      why: '`task.create`: a prompt with control characters, which the task store cannot take',
    })
    await scene.ask('owner', { kind: 'task.create', task }, 'dispatched')
  }),
  scenario('task-create-limit', 'A device creates at most sixty tasks in an hour.', both, async (scene) => {
    const task = { title: 'Tidy', prompt: 'Sort the entries.', workspace: 'site' }
    const op = { kind: 'task.create', task }
    await scene.flood('phone', op, { times: 60, earns: '60 dispatched' })
    await scene.ask('phone', op, 'refused rate_limited', {
      why: '`task.create`: the 61st of one device within an hour',
    })
    await scene.ask('tablet', op, 'dispatched')
  }),
  scenario('task-steer', 'A steer corrects what a task is to do.', both, async (scene) => {
    const task = await scene.create('phone')
    const steer = { kind: 'task.steer', task, revision: 1, prompt: 'Only the last ten.' }
    await scene.ask('phone', steer, 'dispatched')
    await scene.ask('phone', steer, 'refused stale', {
      why: '`task.steer`: another revision than the task has',
    })
    await scene.ask('phone', { ...steer, task: id(0x77) }, 'refused forbidden', {
      why: '`task.steer`: a task that the host does not have',
    })
    await scene.ask('phone', { ...steer, revision: 2, prompt: bell }, 'refused bounds', {
      why: '`task.steer`: a prompt with control characters',
    })
    await scene.take({ do: 'turn', task, turn: 'begins' })
    await scene.ask('phone', { ...steer, revision: 5 }, 'dispatched')
  }),
  scenario('task-cancel', 'A cancel ends a task, with a reason.', both, async (scene) => {
    const task = await scene.create('phone')
    const cancel = { kind: 'task.cancel', task, revision: 1, reason: 'Enough.' }
    await scene.ask('phone', { ...cancel, revision: 4 }, 'refused stale', {
      why: '`task.cancel`: another revision than the task has',
    })
    await scene.ask('phone', { ...cancel, task: id(0x77) }, 'refused forbidden', {
      why: '`task.cancel`: a task that the host does not have',
    })
    await scene.ask('phone', { ...cancel, reason: 'Enough\u2028and more' }, 'dispatched')
    await scene.ask('phone', { ...cancel, revision: 2 }, 'refused conflict', {
      why: '`task.cancel`: a task that has ended',
    })
  }),
  scenario('task-archive', 'A task that has ended can be put away, more than once.', both, async (scene) => {
    const task = await scene.create('phone')
    await scene.ask('phone', { kind: 'task.archive', task }, 'refused conflict', {
      why: '`task.archive`: a task that has not ended',
    })
    await scene.ask('phone', { kind: 'task.archive', task: id(0x77) }, 'refused forbidden', {
      why: '`task.archive`: a task that the host does not have',
    })
    await scene.ask('phone', { kind: 'task.cancel', task, revision: 1, reason: 'Enough.' }, 'dispatched')
    await scene.ask('phone', { kind: 'task.archive', task }, 'dispatched')
    await scene.ask('phone', { kind: 'task.archive', task }, 'dispatched')
    await scene.ask('phone', scene.command(task), 'refused conflict', {
      why: '`task.command`: a task that was put away',
    })
    const query = { workspace: 'site', cursor: null, limit: 8 }
    await scene.ask('phone', { kind: 'task.list', query }, 'tasks')
  }),
  scenario(
    'task-list',
    'Tasks are listed in pages, the one that changed last first.',
    both,
    async (scene) => {
      await scene.create('phone', 'First')
      await scene.advance(2)
      await scene.create('phone', 'Second')
      const query = { workspace: 'site', cursor: null, limit: 1 }
      const { tasks: page } = (await scene.ask('phone', { kind: 'task.list', query }, 'tasks')) as {
        tasks?: { next?: string }
      }
      await scene.ask('phone', { kind: 'task.list', query: { ...query, cursor: page?.next } }, 'tasks')
      await scene.ask(
        'phone',
        { kind: 'task.list', query: { ...query, cursor: 'page 2' } },
        'refused malformed',
        {
          why: '`task.list`: a cursor that the host never gave',
        },
      )
      await scene.ask(
        'phone',
        { kind: 'task.list', query: { ...query, workspace: 'attic' } },
        'refused forbidden',
        { why: '`task.list`: a workspace that the host does not have' },
      )
    },
  ),
  scenario(
    'task-read',
    'A task is read with its steps, in the workspace where it is.',
    { ...both, workspaces: ['site', 'notes'] },
    async (scene) => {
      const task = await scene.create('phone')
      const query = { workspace: 'site', task, revision: 1, cursor: null, limit: 8 }
      const read = (changes: object) => ({ kind: 'task.read', query: { ...query, ...changes } })
      await scene.ask('phone', read({}), 'task')
      await scene.ask('phone', read({ revision: null, cursor: '1+0' }), 'task')
      await scene.ask('phone', read({ workspace: 'attic' }), 'refused forbidden', {
        why: '`task.read`: a workspace that the host does not have',
      })
      await scene.ask('phone', read({ workspace: 'notes' }), 'refused forbidden', {
        why: '`task.read`: a task of another workspace',
      })
      await scene.ask('phone', read({ task: id(0x77) }), 'refused forbidden', {
        why: '`task.read`: a task that the host does not have',
      })
      await scene.ask('phone', read({ revision: 7 }), 'refused stale', {
        why: '`task.read`: another revision than the task has',
      })
      await scene.ask('phone', read({ cursor: '2.1' }), 'refused stale', {
        why: '`task.read`: a turn that the task has not had',
      })
      await scene.ask('phone', read({ cursor: '1+9' }), 'refused stale', {
        why: '`task.read`: a step that the turn has not had',
      })
      await scene.ask('phone', read({ cursor: 'newest' }), 'refused malformed', {
        why: '`task.read`: a cursor that is none',
      })
    },
  ),
  scenario(
    'unavailable',
    'Operations whose owner this host does not have are read to their bounds and refused.',
    { grants: [granted('phone', everything)] },
    async (scene) => {
      const thread = '0f'.repeat(16)
      const request = '1e'.repeat(16)
      const operations = [
        { kind: 'terminal.open', cols: 80, rows: 24 },
        { kind: 'chats.invite' },
        { kind: 'thread.list' },
        { kind: 'thread.read', thread, before: null },
        { kind: 'thread.send', thread, request, text: 'Hello.' },
        { kind: 'thread.stop', thread, request: null },
        { kind: 'thread.run', thread },
        { kind: 'spend.list', grant: { any: 1.5 } },
        { kind: 'spend.settle', receipt: { any: 'thing' } },
      ]
      for (const op of operations) {
        await scene.ask('phone', op, 'refused unavailable', {
          why: `\`${op.kind}\`: this host has no owner of it`,
        })
      }
      await scene.ask('phone', { kind: 'terminal.open', cols: 0, rows: 24 }, 'refused bounds', {
        why: '`terminal.open`: a size out of its range',
      })
    },
  ),
]
