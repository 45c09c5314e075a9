import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Entry } from '../../src/commands/journal-entry.ts'
import type { NewCommand, Sent } from '../../src/device/device.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore } from '../../src/store/tasks/store.ts'
import type { Task } from '../../src/store/tasks/task.ts'
import type { Dice } from '../support/dice.ts'
import type { HostileStage, StagedDevice } from './hostile-stage.ts'

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
  await settled({ device }, new Map())
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
async function settled({ device }: Pick<StagedDevice, 'device'>, learned: Map<string, Sent>): Promise<void> {
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

/** How many different answers each request got, by request ID, whatever became of them on the way. */
export function answersByRequest({ relay, host }: HostileStage): Map<string, Set<string>> {
  const requests = new Set(
    relay.archive.shown.filter(({ pubkey }) => pubkey !== host).map((event) => mailboxOf(event.tags)),
  )
  const answers = new Map<string, Set<string>>()
  for (const event of relay.archive.shown) {
    const mailbox = mailboxOf(event.tags)
    if (event.pubkey !== host || !requests.has(mailbox)) continue
    answers.set(mailbox, (answers.get(mailbox) ?? new Set()).add(event.content))
  }
  return answers
}

function mailboxOf(tags: readonly string[][]): string {
  return tags.find((tag) => tag[0] === 'h')?.[1] ?? ''
}
