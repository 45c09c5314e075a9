import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Entry } from '../../src/commands/journal-entry.ts'
import type { NewCommand, Sent } from '../../src/device/device.ts'
import { openEnvelope } from '../../src/protocol/envelope.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore } from '../../src/store/tasks/store.ts'
import type { Task } from '../../src/store/tasks/task.ts'
import type { Dice } from '../support/dice.ts'
import type { HostileStage, StagedDevice } from './hostile-stage.ts'
import { keyOfDevice } from './intruders.ts'

/** How many commands a device gives before it looks at what became of them; no more than an outbox keeps. */
const waveMax = 60
/** Fewer than a task may hold. */
const heldMax = 50

/** Creates tasks until the host has taken each. */
export async function createTasks({ device }: StagedDevice, count: number): Promise<string[]> {
  const tasks: string[] = []
  for (let index = 0; index < count; index += 1) {
    const sent = await device.create({ title: `Task ${index}`, prompt: 'Begin.', workspace: 'site' })
    tasks.push(sent.task)
  }
  await settled({ device })
  return tasks
}

/** Commands that are decided at once, or held: what each is answered depends on nothing but its task's rest. */
export function drawCommands(
  draws: Dice,
  tasks: readonly string[],
  count: number,
  whose: string,
): NewCommand[] {
  const held = new Map<string, number>()
  return Array.from({ length: count }, (_, index) => {
    const task = draws.pick(tasks)
    const text = `${whose} ${index}`
    const waiting = held.get(task) ?? 0
    const kind = draws.below(10)
    if (kind === 0 && waiting < heldMax / 3) {
      held.set(task, waiting + 1)
      return { task, action: 'queue', text, based_on: 1 }
    }
    if (kind === 1) return { task, action: 'send', text, based_on: 1 }
    if (kind === 2) return { task, action: 'answer', text, based_on: 1 }
    if (kind === 3) return { task, action: 'interrupt', text, based_on: 0 }
    return { task, action: 'steer', text, based_on: 1 }
  })
}

/**
 * Gives a device's commands in waves and keeps sending until each is decided.
 * @returns what the device learned of each, in the order of its outbox
 */
export async function giveAll(
  from: StagedDevice,
  commands: readonly NewCommand[],
): Promise<Map<string, Sent>> {
  const learned = new Map<string, Sent>()
  for (let start = 0; start < commands.length; start += waveMax) {
    const wave = commands.slice(start, start + waveMax)
    await Promise.all(wave.map((command) => from.device.command(command)))
    await settled(from, learned)
  }
  return learned
}

/** Sends what is undecided until nothing is, and notes what became of everything, in the order of the outbox. */
export async function settled(
  { device }: Pick<StagedDevice, 'device'>,
  learned: Map<string, Sent> = new Map(),
): Promise<void> {
  for (;;) {
    const sends = await device.flush()
    if (sends.some(({ state }) => state === 'unknown')) continue
    for (const sent of sends) if (sent.kind !== 'create') learned.set(sent.id, sent)
    return
  }
}

/** The journal as it lies on the disk. */
export async function journalOf({ home }: HostileStage): Promise<Entry[]> {
  return JSON.parse(await readFile(join(home, 'tasks', 'commands.json'), 'utf8')).entries
}

/** The texts that each task was corrected with, by task: what its applied steers did, once each if nothing ran twice. */
export async function correctionsOf(stage: HostileStage): Promise<Map<string, string[]>> {
  const told = await tasksOf(stage)
  return new Map(
    told.map(({ task_id, corrections = [] }) => [task_id, corrections.map(({ prompt }) => prompt)]),
  )
}

/** The task store's own account. */
export async function tasksOf({ home }: HostileStage): Promise<Task[]> {
  const store = await openTaskStore(realDisk, systemClock, join(home, 'tasks'))
  return await store.list()
}

/** What a device must have heard of an entry, in the words of its outbox. Written apart from the bridge's own table. */
export function standingOf({ state }: Entry): string {
  if (state.state === 'held') return 'accepted'
  if (state.state !== 'done') return `undecided: ${state.state}`
  if (state.outcome === 'applied') return 'accepted'
  if (state.outcome === 'rejected') return `refused ${state.reason}`
  return state.outcome === 'superseded' ? 'refused stale' : `refused ${state.outcome}`
}

export function standingIn(sent: Sent): string {
  return sent.state === 'refused' ? `refused ${sent.code}` : sent.state
}

/**
 * The requests that were answered in more than one way, whatever became of the answers on the way: an event with two
 * different replies, or a request ID with two results. A create is signed again under its ID, and so answered again.
 */
export async function answeredTwice(
  { relay, host }: HostileStage,
  devices: readonly StagedDevice[],
): Promise<string[]> {
  const keys = new Map<string, Uint8Array>()
  for (const key of await Promise.all(devices.map(keyOfDevice))) keys.set(key.publicKey, key.with(host))
  const replies = new Map<string, Set<string>>()
  const results = new Map<string, Set<string>>()
  const note = (notes: Map<string, Set<string>>, about: string, what: string) =>
    notes.set(about, (notes.get(about) ?? new Set()).add(what))
  for (const event of relay.archive.shown) {
    const key = keys.get(event.tags.find((tag) => tag[0] === 'p')?.[1] ?? '')
    if (event.pubkey !== host || key === undefined) continue
    const { schema, body } = openEnvelope(event, key)
    if (schema !== 'openagents.host-reply.v1') continue
    note(replies, `event ${body['request_event']}`, event.id)
    note(results, `request ${body['request']}`, JSON.stringify(body['result']))
  }
  return [...replies, ...results].filter(([, said]) => said.size > 1).map(([about]) => about)
}
