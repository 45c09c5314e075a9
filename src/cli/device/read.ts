import type { Device } from '../../device/device.ts'
import { isRefusal } from '../../protocol/refusal.ts'
import type { TaskDetail, TaskStep } from '../../protocol/task-pages.ts'
import { pause } from '../../seams/clock.ts'
import type { Door } from '../door.ts'
import { type Answer, colours, facts } from '../output.ts'
import { jsonLine, printable, printableBlock } from '../printable.ts'
import { hinted } from './hints.ts'
import { type DeviceChoices, withDevice } from './open.ts'
import { whileStaying } from './stay.ts'

const followMs = 1_000

/**
 * The transcript of a turn, the current one when none is named, oldest step first. With `follow` from that turn on:
 * each turn to its end, until the current one is over and no message waits; what waits in the outbox is sent meanwhile.
 * Refuses `stale` for a turn that is not there.
 */
export async function read(
  door: Door,
  task: string,
  choices: DeviceChoices & { follow?: true | undefined; turn?: number | undefined },
): Promise<Answer | null> {
  const look = async (device: Device) => {
    if (choices.follow === true) return whileStaying(device, () => follow(door, device, task, choices.turn))
    const whole = await readWhole(device, task, choices.turn)
    return { json: whole, text: headText(whole, choices.turn) + whole.steps.map(stepText).join('') }
  }
  return hinted('look', task, () => withDevice(door, choices, look))
}

async function follow(door: Door, device: Device, task: string, from: number | undefined): Promise<null> {
  const tell = teller(door)
  let turn = from ?? (await device.read(task, { limit: 1 })).turn
  let step = 0
  for (;;) {
    const detail = await device.read(task, { cursor: cursorAfter(turn, step) })
    for (const one of detail.steps) {
      door.out(door.json ? jsonLine(one) : stepText(one))
      step = one.step
    }
    if (detail.next !== null) continue
    if (detail.turn > turn) {
      turn += 1
      step = 0
      continue
    }
    const why = await waitsFor(device, detail)
    if (why === null) return null
    tell(why)
    await pause(door.clock, followMs)
  }
}

/** Why a follower who has seen all of the current turn goes on, in words if there is something to say; else null. */
async function waitsFor(
  device: Device,
  { task, turn, phase, note, revision }: TaskDetail,
): Promise<string | null> {
  if (phase === 'running') return ''
  if (phase === 'queued') return `turn ${turn} has not started${note === null ? '' : `: ${note}`}`
  try {
    const held = await device.queue(task, { action: 'list' })
    if (held.items.length > 0) return `turn ${turn} is over, and messages wait`
    // Another revision: the next turn may have begun between the two answers.
    return held.revision === revision ? null : ''
  } catch (error) {
    // A device that may only observe does not see the queue: it follows as far as the turn that it sees.
    if (isRefusal(error, 'missing_right')) return null
    throw error
  }
}

/** Tells a person what is waited for, once until it changes. */
function teller(door: Door): (why: string) => void {
  let told = ''
  return (why) => {
    if (why !== told && why !== '' && !door.json) door.err(`${printable(why)}\n`)
    told = why
  }
}

/** The cursor for what comes after a step of a turn; 0 is before the first. */
function cursorAfter(turn: number, step: number): string {
  return `${turn}+${step}`
}

/** Every page of one turn: of the current one from its end back, of a named one from its start on. */
async function readWhole(device: Device, task: string, turn: number | undefined): Promise<TaskDetail> {
  const head = await device.read(task, turn === undefined ? {} : { cursor: cursorAfter(turn, 0) })
  const steps = [...head.steps]
  for (let { next } = head; next !== null; ) {
    const page = await device.read(task, { workspace: head.workspace, cursor: next })
    steps.push(...page.steps)
    next = page.next
  }
  return { ...head, steps: inOrder(steps), next: null }
}

function inOrder(steps: readonly TaskStep[]): TaskStep[] {
  return [...steps].sort((a, b) => a.turn - b.turn || a.step - b.step)
}

function headText(detail: TaskDetail, turn: number | undefined): string {
  return facts([
    ['task', detail.task],
    ['title', detail.title],
    ['workspace', detail.workspace],
    ['phase', detail.phase],
    ['turn', turn === undefined ? String(detail.turn) : `${turn} of ${detail.turn}`],
    ['evidence', detail.evidence],
    ...(detail.note === null ? [] : [['note', detail.note] as const]),
  ])
}

/** One step for a person; an empty one, such as errors that were none, is nothing to show unless it ends a turn. */
function stepText(step: TaskStep): string {
  const ending = endingText(step)
  if (step.text === '' && ending === '') return ''
  const who = step.stream ?? step.role
  const head = colours.dim(`${String(step.turn)}.${String(step.step).padEnd(3)} ${printable(who).padEnd(7)}`)
  const body = printableBlock(step.text).replace(/\n$/, '').replaceAll('\n', '\n              ')
  const cut = step.cut ? colours.dim(' … there is more on the host') : ''
  return `${head} ${body}${cut}${ending}\n`
}

/** How the step ended its turn, with the exit code where the words do not have it. */
function endingText({ ending, exit_code }: TaskStep): string {
  if (ending === null) return ''
  const code = exit_code === null || ending === `exit ${exit_code}` ? '' : `, exit code ${exit_code}`
  return ` (${printable(ending)}${code})`
}
