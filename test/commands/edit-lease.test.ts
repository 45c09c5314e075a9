import { describe, expect, it } from 'vitest'
import { phone, tablet } from '../support/command-desk.ts'
import { refused } from '../support/refusals.ts'
import { endTurn } from '../support/turns.ts'
import { edit, lease, leaseOf, order, release, remove, sendNow, task, withQueue } from './queue-cases.ts'

describe('the edit lease', () => {
  it('is taken and renewed for 60 s of host time, and is durable', async () => {
    const { desk } = await withQueue('One.')
    expect((await desk.commands.edit(phone, task, lease)).lease).toEqual(leaseOf(desk, phone.device))
    desk.clock.jump(30_000)
    expect((await desk.commands.edit(phone, task, lease)).lease).toEqual(leaseOf(desk, phone.device))
    expect((await desk.file()).leases).toEqual([{ task, ...leaseOf(desk, phone.device) }])
  })

  it('held by another device is a conflict', async () => {
    const { desk, requests } = await withQueue('One.')
    await desk.commands.edit(tablet, task, lease)
    await refused('conflict', desk.commands.edit(phone, task, lease))
    await refused('conflict', desk.commands.edit(phone, task, edit(requests[0], 'x')))
  })

  it('is needed for every edit, also by the one who sent the message', async () => {
    const { desk, requests } = await withQueue('One.')
    const [first] = requests
    for (const change of [edit(first, 'x'), remove(first), sendNow(first), order(first)]) {
      await refused('conflict', desk.commands.edit(phone, task, change))
    }
  })

  it('lapses to the second: then it no longer counts', async () => {
    const { desk, requests } = await withQueue('One.')
    await desk.commands.edit(phone, task, lease)
    desk.clock.jump(60_000)
    await refused('conflict', desk.commands.edit(phone, task, edit(requests[0], 'x')))
    expect((await desk.commands.edit(tablet, task, lease)).lease?.device).toBe(tablet.device)
  })

  it('that is given back without being held changes nothing', async () => {
    const { desk } = await withQueue('One.')
    await desk.commands.edit(tablet, task, lease)
    const writes = desk.disk.journalWrites
    const queue = await desk.commands.edit(phone, task, release)
    expect(queue.lease?.device).toBe(tablet.device)
    expect(desk.disk.journalWrites).toBe(writes)
  })

  it('keeps queued messages waiting when the turn ends; giving it back starts the first at once', async () => {
    const { desk } = await withQueue('One.')
    await desk.commands.edit(phone, task, lease)
    await endTurn(desk.tasks, task)
    await desk.commands.evaluate(task)
    expect((await desk.tasks.show(task)).status).toBe('finished')
    const queue = await desk.commands.edit(phone, task, release)
    expect(queue).toMatchObject({ revision: 6, lease: null, items: [] })
    expect((await desk.tasks.show(task)).status).toBe('queued')
  })

  it('that lapses starts the first waiting message by itself', async () => {
    const { desk } = await withQueue('One.')
    await desk.commands.edit(phone, task, lease)
    await endTurn(desk.tasks, task)
    await desk.clock.advance(59_000)
    expect((await desk.tasks.show(task)).status).toBe('finished')
    await desk.clock.advance(1_000)
    await desk.commands.evaluate(task)
    expect((await desk.tasks.show(task)).status).toBe('queued')
  })

  it('outlives a restart, and its lapse too', async () => {
    const { desk } = await withQueue('One.')
    await desk.commands.edit(phone, task, lease)
    await desk.restart()
    await desk.commands.evaluateAll()
    await refused('conflict', desk.commands.edit(tablet, task, lease))
    await endTurn(desk.tasks, task)
    await desk.clock.advance(60_000)
    await desk.commands.evaluate(task)
    expect((await desk.tasks.show(task)).status).toBe('queued')
  })

  it('goes to another after ten minutes of renewals, if it asked within the last minute', async () => {
    const { desk } = await withQueue('One.')
    await desk.commands.edit(phone, task, lease)
    await refused('conflict', desk.commands.edit(tablet, task, lease))
    for (let minute = 0; minute < 10; minute += 1) {
      desk.clock.jump(30_000)
      await desk.commands.edit(phone, task, lease)
      desk.clock.jump(29_999)
      await desk.commands.edit(phone, task, lease)
    }
    desk.clock.jump(30_000)
    // The first request of the tablet is forgotten by now: it asked ten minutes ago.
    await desk.commands.edit(phone, task, lease)
    await refused('conflict', desk.commands.edit(tablet, task, lease))
    await refused('conflict', desk.commands.edit(phone, task, lease))
    expect((await desk.file()).leases).toEqual([{ task, ...leaseOf(desk, tablet.device) }])
    expect((await desk.commands.edit(tablet, task, lease)).lease).toEqual(leaseOf(desk, tablet.device))
  })
})
