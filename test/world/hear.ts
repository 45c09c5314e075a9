import { wireResult } from '../../src/commands/wire-result.ts'
import { isRefusal, Refusal } from '../../src/protocol/refusal.ts'
import { senderNow } from './cast.ts'
import type { AskedEdit, Message, Sent, TextEdit } from './sent.ts'
import { attempt, nowOf, type World } from './world.ts'

/** The host hears a request: it admits its sender as the access book stands, and answers. */
export function hear(world: World, message: Extract<Message, { to: 'host' }>): void {
  world.tick += 1
  if ('sent' in message) hearCommand(world, message.sent)
  else void hearEdit(world, message.asked)
}

function hearCommand(world: World, sent: Sent): void {
  const sender = senderNow(world.record, sent.device, nowOf(world))
  if (sender === null) {
    reply(world, sent, 'revoked', true)
    return
  }
  const recorded = world.host.commands.record(sender, sent.request).then(
    (state) => {
      sent.told.push(state)
      world.tally.state(state)
      const result = wireResult(state)
      reply(world, sent, result.ok ? 'ok' : result.code, true)
    },
    (error: unknown) => {
      if (!isRefusal(error)) throw error
      // The journal may have no disk or no room just now: such an answer ends nothing.
      const isFinal = error.code !== 'unavailable' && error.code !== 'rate_limited'
      if (isFinal) sent.turnedAway = true
      reply(world, sent, error.code, isFinal)
    },
  )
  void attempt(recorded)
}

function reply(world: World, sent: Sent, answer: string, isFinal: boolean): void {
  world.bag.push({ to: 'device', sent, answer, isFinal })
}

/** An edit that arrives once more is not done once more, whatever became of it the first time. */
export async function hearEdit(world: World, asked: AskedEdit): Promise<void> {
  if (world.edits.has(asked.id)) return
  world.edits.set(asked.id, 'begun')
  const change = textEdit(world, asked)
  const done = doEdit(world, asked).then(
    () => {
      world.tick += 1
      world.edits.set(asked.id, 'ok')
      if (change !== null) settle(world, change, true)
      if (asked.edit.action === 'remove' && asked.of !== null) asked.of.removed = true
    },
    (error: unknown) => {
      world.tick += 1
      if (!isRefusal(error)) throw error
      world.edits.set(asked.id, error.code)
      if (change === null) return
      // What could not be written may have been; any other refusal means that it never was.
      if (error.code === 'unavailable') settle(world, change, false)
      else asked.of?.edits.splice(asked.of.edits.indexOf(change), 1)
    },
  )
  await attempt(done)
}

async function doEdit(world: World, { device, task, edit, of, action }: AskedEdit): Promise<void> {
  const sender = senderNow(world.record, device, nowOf(world))
  if (sender === null) throw new Refusal('revoked', 'no grant')
  const { watch } = world
  const releases = watch.asking(task, nowOf(world))
  const released = edit.action === 'release' ? watch.releasing(task) : () => {}
  if (edit.action === 'reorder') world.moved.add(task)
  if (edit.action === 'send_now' && of !== null) of.promoted = true
  if (edit.action === 'remove' && of !== null) of.removalAsked = true
  const { commands } = world.host
  const view = await commands.edit(sender, task, edit).finally(released)
  if (edit.action === 'lease') watch.leased(task, view, { entries: commands.entries(task), releases })
  watch.timeIs(nowOf(world))
  world.tally.count(`edited: ${action}`)
}

function textEdit(world: World, { edit, of }: AskedEdit): TextEdit | null {
  if (edit.action !== 'edit' || of === null) return null
  const change: TextEdit = { text: edit.text, begun: world.tick, settled: null, acknowledged: false }
  of.edits.push(change)
  return change
}

function settle(world: World, change: TextEdit, acknowledged: boolean): void {
  change.settled = world.tick
  change.acknowledged = acknowledged
}
