import { id } from '../../access.ts'
import type { Scenario } from '../scene.ts'
import { granted, scenario } from './common.ts'

const both = { grants: [granted('phone'), granted('tablet')] }

/** Commands to a task and edits of its queue. */
export const commands: readonly Scenario[] = [
  scenario(
    'command-actions',
    'What a command does depends on the turn that it meets.',
    both,
    async (scene) => {
      const task = await scene.create('phone')
      const command = (changes: object) => scene.command(task, changes)
      await scene.ask('phone', command({ action: 'steer', text: 'Only the last ten.' }), 'dispatched')
      await scene.ask('phone', command({ action: 'send' }), 'refused conflict', {
        why: '`task.command` `send`: a task whose turn has not ended',
      })
      await scene.ask('phone', command({ action: 'answer', text: 'Yes.' }), 'refused conflict', {
        why: '`task.command` `answer`: a task that asked nothing',
      })
      await scene.ask('phone', command({ action: 'queue' }), 'dispatched')
      await scene.take({ do: 'turn', task, turn: 'begins' })
      await scene.ask('phone', command({ action: 'steer', based_on: 2 }), 'refused unsupported', {
        why: '`task.command` `steer`: an engine that takes nothing in while it runs',
      })
      await scene.ask(
        'phone',
        command({ action: 'steer', emulate: true, based_on: 2 }),
        'refused unsupported',
        {
          why: '`task.command` `steer` with `emulate`: an engine that has no emulation',
        },
      )
      await scene.ask('phone', command({ action: 'interrupt', text: 'Stop.', based_on: 2 }), 'dispatched')
      await scene.ask(
        'phone',
        command({ action: 'interrupt', text: 'Stop.', based_on: 0 }),
        'refused stale',
        {
          why: '`task.command` `interrupt`: about an earlier turn than the one that runs',
        },
      )
      await scene.take({ do: 'turn', task, turn: 'ends' })
      await scene.ask('phone', { kind: 'task.queue', task, edit: { action: 'list' } }, 'queue')
    },
  ),
  scenario(
    'command-refused',
    'A command ID stands for one command; a command lives for a day.',
    both,
    async (scene) => {
      const task = await scene.create('phone')
      const command = (changes: object = {}) => scene.command(task, changes)
      const same = { command: id(0xcc) }
      await scene.ask('phone', command(same), 'dispatched')
      await scene.ask('phone', command(same), 'dispatched')
      await scene.ask('phone', command({ ...same, text: 'Other.' }), 'refused conflict', {
        why: '`task.command`: a command ID that stands for another command',
      })
      await scene.ask('tablet', command(same), 'dispatched')
      await scene.ask('phone', scene.command(id(0x77)), 'refused forbidden', {
        why: '`task.command`: a task that the host does not have',
      })
      await scene.ask('phone', command({ text: 'Ring the \u0007.' }), 'refused bounds', {
        why: '`task.command`: a text with control characters',
      })
      await scene.ask('phone', command({ issued_at: scene.now() - 86_401 }), 'refused expired', {
        why: '`task.command`: a command that is older than a day',
      })
      await scene.ask('phone', command({ issued_at: scene.now() + 301 }), 'refused bounds', {
        why: '`task.command`: a command dated more than five minutes ahead',
      })
    },
  ),
  scenario(
    'command-unknown',
    'Nothing is done to a task of which nobody knows whether it runs.',
    both,
    async (scene) => {
      const task = await scene.create('phone')
      await scene.take({ do: 'turn', task, turn: 'begins' })
      await scene.take({ do: 'turn', task, turn: 'is lost' })
      await scene.ask('phone', scene.command(task, { action: 'send', based_on: 5 }), 'refused unavailable', {
        why: '`task.command`: a task of which the host does not know whether it runs',
      })
    },
  ),
  scenario('queue-full', 'A queue holds 64 messages.', both, async (scene) => {
    const task = await scene.create('phone')
    await scene.flood('phone', scene.command(task), { times: 64, earns: '64 dispatched' })
    await scene.ask('phone', scene.command(task), 'refused bounds', {
      why: '`task.command`: the 65th message that one task would hold',
    })
  }),
  scenario(
    'queue-lease',
    'Who edits a queue holds its lease, for a minute at a time.',
    both,
    async (scene) => {
      const task = await scene.create('phone')
      const edit = (given: object) => ({ kind: 'task.queue', task, edit: given })
      const message = id(0xc1)
      await scene.ask('phone', scene.command(task), 'dispatched')
      await scene.ask('phone', edit({ action: 'remove', command: message }), 'refused conflict', {
        why: '`task.queue`: an edit without the lease',
      })
      await scene.ask('phone', edit({ action: 'lease' }), 'queue')
      await scene.ask('tablet', edit({ action: 'lease' }), 'refused conflict', {
        why: '`task.queue` `lease`: the lease of another device',
      })
      await scene.ask('phone', edit({ action: 'release' }), 'queue')
      await scene.ask('tablet', edit({ action: 'lease' }), 'queue')
      await scene.ask(
        'tablet',
        edit({ action: 'edit', command: message, text: 'Mine.' }),
        'refused forbidden',
        {
          why: '`task.queue` `edit`: a message of another device',
        },
      )
      await scene.ask('tablet', edit({ action: 'list' }), 'queue')
      await scene.advance(60)
      await scene.ask('phone', edit({ action: 'lease' }), 'queue')
      const elsewhere = { kind: 'task.queue', task: id(0x77), edit: { action: 'list' } }
      await scene.ask('tablet', elsewhere, 'refused forbidden', {
        why: '`task.queue`: a task that the host does not have',
      })
    },
  ),
  scenario('queue-edits', 'Held messages are put in order, edited and removed.', both, async (scene) => {
    const task = await scene.create('phone')
    const edit = (given: object) => ({ kind: 'task.queue', task, edit: given })
    const [first, second] = [id(0xc1), id(0xc2)]
    await scene.ask('phone', scene.command(task), 'dispatched')
    await scene.ask('phone', scene.command(task, { text: 'At last the notes.' }), 'dispatched')
    await scene.ask('phone', edit({ action: 'lease' }), 'queue')
    await scene.ask('phone', edit({ action: 'reorder', commands: [second, first] }), 'queue')
    await scene.ask('phone', edit({ action: 'reorder', commands: [second] }), 'refused conflict', {
      why: '`task.queue` `reorder`: other messages than the queue holds',
    })
    await scene.ask('phone', edit({ action: 'edit', command: first, text: 'Then the index.' }), 'queue')
    await scene.ask('phone', edit({ action: 'edit', command: first, text: '\u0007' }), 'refused bounds', {
      why: '`task.queue` `edit`: a text with control characters',
    })
    await scene.ask('phone', edit({ action: 'remove', command: second }), 'queue')
    await scene.ask('phone', edit({ action: 'edit', command: second, text: 'Late.' }), 'refused conflict', {
      why: '`task.queue` `edit`: a message that is not held any more',
    })
  }),
  scenario(
    'queue-send-now',
    'A held message can be sent at once, where the engine can take it.',
    both,
    async (scene) => {
      const task = await scene.create('phone')
      const edit = (given: object) => ({ kind: 'task.queue', task, edit: given })
      await scene.take({ do: 'turn', task, turn: 'begins' })
      await scene.ask('phone', scene.command(task, { based_on: 2 }), 'dispatched')
      await scene.ask('phone', edit({ action: 'lease' }), 'queue')
      await scene.ask('phone', edit({ action: 'send_now', command: id(0xc1) }), 'refused unsupported', {
        why: '`task.queue` `send_now`: an engine that takes nothing in while it runs',
      })
      await scene.take({ do: 'turn', task, turn: 'ends' })
      await scene.ask('phone', edit({ action: 'send_now', command: id(0xc1) }), 'queue')
    },
  ),
]
