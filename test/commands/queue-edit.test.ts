import { describe, expect, it } from 'vitest'
import { openDesk, owner, phone, tablet } from '../support/command-desk.ts'
import { refused } from '../support/refusals.ts'
import { endTurn, steering } from '../support/turns.ts'
import { edit, lease, list, order, release, remove, sendNow, task, withQueue } from './queue-cases.ts'

describe('the queue', () => {
  it('lists held messages in the order they run, with the text of one’s own only', async () => {
    const { desk, requests } = await withQueue('One.', 'Two.')
    await desk.commands.record(tablet, desk.mint(task, 'queue', 'Secret.'))
    const queue = await desk.commands.edit(phone, task, list)
    expect(queue).toEqual({
      task,
      revision: 4,
      lease: null,
      items: [
        { command: requests[0]?.command, device: phone.device, text: 'One.', priority: false },
        { command: requests[1]?.command, device: phone.device, text: 'Two.', priority: false },
        { command: expect.any(String), device: tablet.device, text: null, priority: false },
      ],
    })
  })

  it('of an unknown task is forbidden', async () => {
    const desk = await openDesk(task)
    for (const edit of [list, lease, release])
      await refused('forbidden', desk.commands.edit(phone, 'task-2', edit))
  })
})

describe('editing a held message', () => {
  it('puts the text in place, and that is what runs', async () => {
    const { desk, requests } = await withQueue('One.')
    await desk.commands.edit(phone, task, lease)
    const queue = await desk.commands.edit(phone, task, edit(requests[0], 'Better.'))
    expect(queue.items[0]?.text).toBe('Better.')
    await desk.commands.edit(phone, task, release)
    await endTurn(desk.tasks, task)
    await desk.commands.evaluate(task)
    expect((await desk.tasks.show(task)).follow_ups?.[0]?.prompt).toBe('Better.')
  })

  it('with its original text clears the edit, and the request stays as it was sent', async () => {
    const { desk, requests } = await withQueue('One.')
    await desk.commands.edit(phone, task, lease)
    await desk.commands.edit(phone, task, edit(requests[0], 'Better.'))
    expect((await desk.file()).entries[0]).toMatchObject({ edited: 'Better.', request: { text: 'One.' } })
    await desk.commands.edit(phone, task, edit(requests[0], 'One.'))
    expect((await desk.file()).entries[0]).not.toHaveProperty('edited')
  })

  it('that another device sent, or nobody, is forbidden', async () => {
    const { desk, requests } = await withQueue('One.')
    await desk.commands.edit(tablet, task, lease)
    const unknown = desk.mint(task, 'queue')
    for (const request of [requests[0], unknown]) {
      for (const change of [edit(request, 'x'), remove(request), sendNow(request)]) {
        await refused('forbidden', desk.commands.edit(tablet, task, change))
      }
    }
  })

  it('of another task is forbidden', async () => {
    const desk = await openDesk(task, 'task-2')
    const request = desk.mint('task-2', 'queue')
    await desk.commands.record(phone, request)
    await desk.commands.edit(phone, task, lease)
    await refused('forbidden', desk.commands.edit(phone, task, remove(request)))
  })

  it('that is no longer held is a conflict', async () => {
    const { desk, requests } = await withQueue('One.')
    await endTurn(desk.tasks, task)
    await desk.commands.evaluate(task)
    await desk.commands.edit(phone, task, lease)
    for (const change of [edit(requests[0], 'x'), remove(requests[0]), sendNow(requests[0])]) {
      await refused('conflict', desk.commands.edit(phone, task, change))
    }
  })

  it('to a text that the store could never take is bounds', async () => {
    const { desk, requests } = await withQueue('One.')
    await desk.commands.edit(phone, task, lease)
    await refused('bounds', desk.commands.edit(phone, task, edit(requests[0], 'a\u001b[31m')))
  })

  it('by the owner works on the owner’s own messages', async () => {
    const desk = await openDesk(task)
    await desk.commands.record(owner, desk.mint(task, 'queue', 'Mine.'))
    const queue = await desk.commands.edit(owner, task, lease)
    expect(queue.items[0]?.text).toBe('Mine.')
  })
})

describe('removing a held message', () => {
  it('ends it as cancelled; again is a success; it never runs', async () => {
    const { desk, requests } = await withQueue('One.', 'Two.')
    await desk.commands.edit(phone, task, lease)
    for (let time = 0; time < 2; time += 1) {
      const queue = await desk.commands.edit(phone, task, remove(requests[0]))
      expect(queue.items.map((item) => item.text)).toEqual(['Two.'])
    }
    await desk.commands.edit(phone, task, release)
    await endTurn(desk.tasks, task)
    await desk.commands.evaluate(task)
    expect((await desk.tasks.show(task)).follow_ups?.map((followUp) => followUp.prompt)).toEqual(['Two.'])
  })
})

describe('sending a held message now', () => {
  it('stops the running turn where the engine emulates, and the message runs next; again is a success', async () => {
    const { desk, requests } = await withQueue('One.', 'Two.')
    desk.engine = steering({ emulation: 'cancel_and_continue' })
    await desk.commands.edit(phone, task, lease)
    const queue = await desk.commands.edit(phone, task, sendNow(requests[1]))
    expect(queue.items.map((item) => [item.text, item.priority])).toEqual([
      ['Two.', true],
      ['One.', false],
    ])
    expect((await desk.tasks.show(task)).status).toBe('cancel_requested')
    await endTurn(desk.tasks, task)
    // The lease is still held: a promoted message does not wait for it.
    await desk.commands.evaluate(task)
    expect((await desk.tasks.show(task)).follow_ups?.[0]?.prompt).toBe('Two.')
    await desk.commands.edit(phone, task, sendNow(requests[1]))
  })

  it('answers unsupported where the engine does not, and changes nothing', async () => {
    const { desk, requests } = await withQueue('One.')
    await desk.commands.edit(phone, task, lease)
    const before = await desk.file()
    await refused('unsupported', desk.commands.edit(phone, task, sendNow(requests[0])))
    expect(await desk.file()).toEqual(before)
    expect((await desk.tasks.show(task)).status).toBe('running')
  })

  it('answers unavailable while nobody knows how the turn ended, and the message stays', async () => {
    const { desk, requests } = await withQueue('One.')
    await endTurn(desk.tasks, task, { group_clear: false })
    await desk.commands.edit(phone, task, lease)
    await refused('unavailable', desk.commands.edit(phone, task, sendNow(requests[0])))
    expect(desk.commands.entries()[0]?.state.state).toBe('held')
  })

  it('starts it in spite of the lease once the turn has ended, in one journal write', async () => {
    const { desk, requests } = await withQueue('One.')
    await desk.commands.edit(phone, task, lease)
    await endTurn(desk.tasks, task)
    const writes = desk.disk.journalWrites
    await desk.commands.edit(phone, task, sendNow(requests[0]))
    expect(desk.disk.journalWrites - writes).toBe(1)
    expect((await desk.tasks.show(task)).follow_ups?.[0]?.prompt).toBe('One.')
  })
})

describe('reordering held messages', () => {
  it('lets them trade places among their own slots, whoever sent them', async () => {
    const { desk, requests } = await withQueue('One.', 'Two.')
    const third = desk.mint(task, 'queue', 'Three.')
    await desk.commands.record(tablet, third)
    await desk.commands.edit(phone, task, lease)
    const queue = await desk.commands.edit(phone, task, order(third, requests[1], requests[0]))
    expect(queue.items.map((item) => item.text)).toEqual([null, 'Two.', 'One.'])
    await desk.restart()
    expect((await desk.commands.edit(phone, task, list)).items.map((item) => item.text)).toEqual([
      null,
      'Two.',
      'One.',
    ])
  })

  it('leaves the commands of other tasks in their places', async () => {
    const desk = await openDesk(task, 'task-2')
    const requests = [task, 'task-2', task, 'task-2'].map((id) => desk.mint(id, 'queue'))
    for (const request of requests) await desk.commands.record(phone, request)
    await desk.commands.edit(phone, task, lease)
    await desk.commands.edit(phone, task, order(requests[2], requests[0]))
    const wanted = [2, 1, 0, 3].map((index) => requests[index]?.command)
    expect((await desk.file()).entries.map((entry) => entry.request.command)).toEqual(wanted)
  })

  it('that names other messages than exactly those is a conflict', async () => {
    const { desk, requests } = await withQueue('One.', 'Two.')
    await desk.commands.edit(phone, task, lease)
    const [one, two] = requests
    const unknown = desk.mint(task, 'queue')
    for (const wrong of [order(one), order(), order(one, two, unknown), order(one, unknown)]) {
      await refused('conflict', desk.commands.edit(phone, task, wrong))
    }
  })

  it('does not move messages with priority', async () => {
    const { desk, requests } = await withQueue('One.', 'Two.')
    desk.engine = steering({ emulation: 'cancel_and_continue' })
    await desk.commands.edit(phone, task, lease)
    await desk.commands.edit(phone, task, sendNow(requests[0]))
    await refused('conflict', desk.commands.edit(phone, task, order(requests[1], requests[0])))
    await desk.commands.edit(phone, task, order(requests[1]))
  })
})
