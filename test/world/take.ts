import { type Entry, isHeld } from '../../src/commands/journal-entry.ts'
import type { QueueEdit } from '../../src/protocol/operations/commands.ts'
import { steering } from '../support/turns.ts'
import { devices, granted, renewed, revoked, taskIds } from './cast.ts'
import { hear, hearEdit } from './hear.ts'
import { onDisk } from './on-disk.ts'
import type { Message, Sent } from './sent.ts'
import { type EditAction, noTask, type Step } from './steps.ts'
import { takeTurnStep } from './turns.ts'
import { attempt, nowOf, quiet, startHost, type World } from './world.ts'

type Of<K extends Step['do']> = Extract<Step, { do: K }>

/** Lets one thing happen. What it sets off goes on while the next ones happen. */
export async function take(world: World, step: Step): Promise<void> {
  world.tick += 1
  switch (step.do) {
    case 'mint':
      return mint(world, step)
    case 'send':
      return sendHead(world, deviceAt(step.device))
    case 'ask':
      return ask(world, step)
    case 'relay':
      return relay(world, step)
    case 'begin':
    case 'end':
    case 'cancel':
    case 'continue':
    case 'archive':
    case 'restore':
      return takeTurnStep(world, step)
    case 'revoke':
      world.everRevoked.add(deviceAt(step.device))
      world.record = revoked(world.record, deviceAt(step.device), nowOf(world))
      void world.host.commands.evaluateAll()
      return
    case 'grant':
      // A fresh grant takes the place of those before it.
      world.everRevoked.add(deviceAt(step.device))
      world.record = granted(world.record, deviceAt(step.device), nowOf(world))
      return
    case 'renew':
      world.record = renewed(world.record, deviceAt(step.device), nowOf(world))
      return
    case 'engine':
      world.engine = steering({
        native: step.native ? 'mid_turn' : 'turn_boundary',
        emulation: step.emulates ? 'cancel_and_continue' : null,
      })
      return
    case 'clock':
      world.clock.jump(1_000 * step.seconds)
      world.watch.timeIs(nowOf(world))
      return await world.clock.advance(0)
    case 'settle':
      return await quiet()
    case 'crash':
      return await crash(world, step.after)
    case 'fail':
      return fail(world, step)
  }
}

function mint(world: World, step: Of<'mint'>): void {
  const task = taskAt(step.task)
  const number = world.sent.length + 1
  const revision = revisionOf(world, task)
  const issued_at = nowOf(world) + step.ahead
  if (step.ahead > 0) world.aheadAt.add(issued_at)
  const sent: Sent = {
    device: deviceAt(step.device),
    request: {
      command: number.toString(16).padStart(64, '0'),
      task,
      kind: step.kind,
      based_on: step.stale ? Math.max(1, revision - 3) : revision,
      text: `text ${number}`,
      emulate: step.kind === 'steer' && step.emulate,
      issued_at,
    },
    told: [],
    edits: [],
    removalAsked: false,
    removed: false,
    promoted: false,
    turnedAway: false,
    answer: null,
  }
  world.sent.push(sent)
  if (step.quickly && headOf(world, sent.device) === sent) deliver(world, { to: 'host', sent })
}

/** What a device does now and then: it asks once more for the first of its commands that has no answer. */
export function sendHead(world: World, device: string): void {
  const head = headOf(world, device)
  if (head !== undefined) world.bag.push({ to: 'host', sent: head })
}

function headOf(world: World, device: string): Sent | undefined {
  return world.sent.find((sent) => sent.device === device && sent.answer === null)
}

function ask(world: World, step: Of<'ask'>): void {
  const of = messageFor(world, step)
  const device = step.quickly && of !== null ? of.device : deviceAt(step.device)
  const task = step.quickly && of !== null ? of.request.task : taskAt(step.task)
  const edit = editOf(world, step.action, task, of)
  if (edit === null) return
  const asking = (action: EditAction, about: QueueEdit) => {
    world.asked += 1
    return { id: world.asked, device, task, action, edit: about, of }
  }
  const asked = asking(step.action, edit)
  const lease = asking('lease', { action: 'lease' })
  if (step.quickly) void hearEdit(world, lease).then(() => hearEdit(world, asked))
  else world.bag.push({ to: 'host', asked })
}

/** One that waits, most of the time; it may also be any that the device ever sent for this task. */
function messageFor(world: World, step: Of<'ask'>): Sent | null {
  const [device, task] = [deviceAt(step.device), taskAt(step.task)]
  const own = world.sent.filter((sent) => sent.device === device && sent.request.task === task)
  const waiting = new Set(taskIds.flatMap((id) => heldCommands(world, id, () => true)))
  const held = (step.quickly ? world.sent : own).filter(({ request }) => waiting.has(request.command))
  const from = held.length > 0 && step.pick % 4 !== 0 ? held : own
  return from[step.pick % Math.max(1, from.length)] ?? null
}

function editOf(world: World, action: EditAction, task: string, of: Sent | null): QueueEdit | null {
  switch (action) {
    case 'list':
    case 'lease':
    case 'release':
      return { action }
    case 'reorder':
      return { action, commands: movable(world, task).reverse() }
    case 'edit':
    case 'restore':
      if (of === null) return null
      return {
        action: 'edit',
        command: of.request.command,
        text: action === 'edit' ? `edit ${world.asked}` : of.request.text,
      }
    case 'remove':
    case 'send_now':
      return of === null ? null : { action, command: of.request.command }
  }
}

/** The messages that an order names, as somebody sees them who looks now. */
function movable(world: World, task: string): string[] {
  return heldCommands(
    world,
    task,
    ({ state, promoted }) => 'priority' in state && !state.priority && !promoted,
  )
}

function heldCommands(world: World, task: string, isWanted: (entry: Entry) => boolean): string[] {
  try {
    const entries = world.host.commands.entries(task)
    return entries.filter((entry) => isHeld(entry) && isWanted(entry)).map(({ request }) => request.command)
  } catch {
    return []
  }
}

function relay(world: World, { pick, fate }: Of<'relay'>): void {
  const at = pick % Math.max(1, world.bag.length)
  const message = world.bag[at]
  if (message === undefined) return
  if (fate !== 'duplicate') world.bag.splice(at, 1)
  if (fate !== 'drop') deliver(world, message)
}

export function deliver(world: World, message: Message): void {
  if (world.sabotage.loses?.(message) === true) return
  if (message.to === 'host') hear(world, message)
  else if (message.isFinal) message.sent.answer = message.answer
}

/** Ends the host's life after some more calls of the disk, or when nothing calls it any more. */
async function crash(world: World, after: number): Promise<void> {
  const crashed = world.machine.crashAfter(after)
  const isCutOff = await Promise.race([crashed.then(() => true), quiet().then(() => false)])
  if (isCutOff) world.tally.count('crash in the middle of a call')
  world.machine.crash()
  world.machine.fate = () => 'done'
  world.watch.died()
  world.tick += 1
  for (const { edits } of world.sent) for (const edit of edits) edit.settled ??= world.tick
  await startHost(world)
  void attempt(world.host.commands.evaluateAll())
}

/** One of the next changes of the disk fails, or several in a row: surely, or without anybody knowing. */
function fail(world: World, { at, times, doubtful }: Of<'fail'>): void {
  let count = -1
  world.calm = false
  world.machine.fate = () => {
    count += 1
    if (count < at || count >= at + times) return 'done'
    world.tally.count(doubtful ? 'disk call in doubt' : 'disk call failed')
    return doubtful ? 'doubtful' : 'failed'
  }
}

function revisionOf(world: World, task: string): number {
  return onDisk(world.machine, world.looked).tasks.get(task)?.task.revision ?? 1
}

function deviceAt(at: number): string {
  return devices[at] ?? devices[0]
}

function taskAt(at: number): string {
  if (at === noTask) return 'task-none'
  return taskIds[at] ?? taskIds[0]
}
