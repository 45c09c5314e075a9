import { describe, expect, it } from 'vitest'
import type { CommandRequest } from '../../src/commands/journal-entry.ts'
import { heldPerTaskMax } from '../../src/limits.ts'
import type { QueueEdit } from '../../src/protocol/operations/commands.ts'
import { isRefusal, Refusal } from '../../src/protocol/refusal.ts'
import { type Desk, openDesk, phone } from '../support/command-desk.ts'
import { type Gate, gate } from '../support/gate.ts'
import { refused } from '../support/refusals.ts'
import { until } from '../support/until.ts'
import { devices, taskIds } from '../world/cast.ts'
import { createTally } from '../world/tally.ts'
import { openWorld, quiet, type World } from '../world/world.ts'

const task = 'task-1'

describe('what changes while a write is under way', () => {
  it('a message that its sender removes while it is being recorded is answered, and so is a replay', async () => {
    const desk = await openDesk(task)
    await desk.commands.edit(phone, task, { action: 'lease' })
    const write = holdWrites(desk)
    const request = desk.mint(task, 'queue')
    const recorded = desk.commands.record(phone, request)
    await write.reached()
    const removed = desk.commands.edit(phone, task, { action: 'remove', command: request.command })
    await until(() => stateOf(desk) === 'done')
    write.open()
    await removed
    expect(await recorded).toMatchObject({ outcome: 'cancelled' })
    expect(await desk.commands.record(phone, request)).toMatchObject({ outcome: 'cancelled' })
  }, 5_000)

  it('the last message that a full queue takes stays in it when it is sent now while it is being recorded', async () => {
    const desk = await openDesk(task)
    const more = Array.from({ length: heldPerTaskMax - 1 }, () => desk.mint(task, 'queue'))
    for (const request of more) await desk.commands.record(phone, request)
    await edit(desk, { action: 'lease' })
    const write = holdWrites(desk)
    const last = desk.mint(task, 'queue', 'The last.', { based_on: 0 })
    const recorded = desk.commands.record(phone, last)
    await write.reached()
    const sent = edit(desk, { action: 'send_now', command: last.command })
    await until(() => desk.commands.entries(task).at(-1)?.promoted === true)
    write.open()
    expect(await recorded).toMatchObject({ state: 'held' })
    expect((await sent).items[0]).toMatchObject({ command: last.command, priority: true })
  })

  it('an edit is not acknowledged when the journal had to be read again meanwhile', async () => {
    const { desk, command } = await heldMessage()
    const write = holdWrites(desk, 'fail')
    const other = refused('unavailable', desk.commands.record(phone, desk.mint(task, 'queue', 'Another.')))
    await write.reached()
    const edited = edit(desk, { action: 'edit', command, text: 'Better.' })
    await until(() => desk.commands.entries(task)[0]?.edited === 'Better.')
    desk.disk.beforeWrite = () => {}
    write.open()
    await refused('unavailable', edited)
    await other
    expect((await edit(desk, { action: 'list' })).items).toMatchObject([{ text: 'First.' }])
  })

  it('an edit that changes nothing is not acknowledged before what it rests on is durable', async () => {
    const { desk, command } = await heldMessage()
    const write = holdWrites(desk, 'fail')
    const removed = refused('unavailable', edit(desk, { action: 'remove', command }))
    await write.reached()
    const again = refused('unavailable', edit(desk, { action: 'remove', command }))
    for (let look = 0; look < 20; look += 1) await desk.tasks.show(task)
    write.open()
    await removed
    await again
    desk.disk.beforeWrite = () => {}
    expect((await edit(desk, { action: 'list' })).items).toHaveLength(1)
  })
})

describe('a write that fails at any moment', () => {
  it('takes back nothing that a replay was told meanwhile', async () => {
    const told = new Set<string>()
    for (let moment = 0; moment < 80; moment += 1) {
      const world = await openWorld(moment + 1, createTally())
      await record(world, 0)
      await queueEdit(world, { action: 'lease' })
      failNextWrite(world)
      const removed = queueEdit(world, { action: 'remove', command: requestOn(world, 0).command })
      for (let turn = 0; turn < moment; turn += 1) await Promise.resolve()
      const replayed = record(world, 0)
      await quiet()
      expect(await removed).toBe('unavailable')
      told.add(await replayed)
    }
    expect([...told].sort()).toEqual(['held', 'unavailable'])
  })

  it('leaves nobody without an answer', async () => {
    for (let moment = 0; moment < 80; moment += 1) {
      const world = await openWorld(moment + 1, createTally())
      let answered = 0
      for (const on of [0, 1] as const) {
        void record(world, on).finally(() => {
          answered += 1
        })
        failNextWrite(world)
        for (let turn = 0; turn < moment; turn += 1) await Promise.resolve()
      }
      await quiet()
      expect({ moment, answered }).toEqual({ moment, answered: 2 })
    }
  })

  it('does not end the evaluation of all tasks with an error', async () => {
    for (let moment = 0; moment < 80; moment += 1) {
      const world = await openWorld(moment + 1, createTally())
      failNextWrite(world)
      void record(world, 0)
      for (let turn = 0; turn < moment; turn += 1) await Promise.resolve()
      const evaluations = Array.from({ length: 4 }, async (_, turns) => {
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
        await world.host.commands.evaluateAll()
      })
      await expect(Promise.all(evaluations)).resolves.toBeDefined()
    }
  })
})

/** A message that is held, and the lease of its sender. */
async function heldMessage(): Promise<{ desk: Desk; command: string }> {
  const desk = await openDesk(task)
  const request = desk.mint(task, 'queue', 'First.')
  await desk.commands.record(phone, request)
  await edit(desk, { action: 'lease' })
  return { desk, command: request.command }
}

function edit(desk: Desk, queueEdit: QueueEdit) {
  return desk.commands.edit(phone, task, queueEdit)
}

/** Holds up the writes of the journal from now on, and lets them fail then if so asked. */
function holdWrites(desk: Desk, then: 'succeed' | 'fail' = 'succeed'): Gate {
  const write = gate()
  write.close()
  desk.disk.beforeWrite = async () => {
    await write.pass()
    if (then === 'fail') throw new Refusal('io', 'no space left')
  }
  return write
}

function stateOf(desk: Desk): string | undefined {
  return desk.commands.entries(task)[0]?.state.state
}

function failNextWrite(world: World): void {
  let failed = false
  world.machine.fate = (_, path) => {
    if (failed || !path.endsWith('/commands.json')) return 'done'
    failed = true
    return 'failed'
  }
}

const owner = { device: devices[2], grant: null, epoch: null }

/** Gives the state that the command is in, or the code of the refusal. */
async function record(world: World, on: 0 | 1): Promise<string> {
  return await world.host.commands.record(owner, requestOn(world, on)).then(({ state }) => state, codeOf)
}

async function queueEdit(world: World, asked: QueueEdit): Promise<string> {
  return await world.host.commands.edit(owner, taskIds[0], asked).then(() => 'ok', codeOf)
}

function codeOf(error: unknown): string {
  if (!isRefusal(error)) throw error
  return error.code
}

function requestOn(world: World, on: 0 | 1): CommandRequest {
  return {
    command: `${on}`.repeat(64),
    task: taskIds[on],
    kind: 'queue',
    based_on: 1,
    text: 'Next.',
    emulate: false,
    issued_at: world.began,
  }
}
