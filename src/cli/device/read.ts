import type { Device } from '../../device/device.ts'
import type { TaskDetail, TaskStep } from '../../protocol/task-pages.ts'
import type { Door } from '../door.ts'
import { type Answer, colours, facts } from '../output.ts'
import { printable, printableBlock } from '../printable.ts'
import { cursorAfter, follow } from './follow.ts'
import { hinted } from './hints.ts'
import { type DeviceChoices, withDevice } from './open.ts'
import { whileStaying } from './stay.ts'

/**
 * The transcript of a turn, the current one when none is named, oldest step first. With `follow` from that turn on:
 * each turn to its end, until the current one is over and no message waits, also while nobody answers for a time; what
 * waits in the outbox is sent meanwhile.
 * Refuses `stale` for a turn that is not there.
 */
export async function read(
  door: Door,
  task: string,
  choices: DeviceChoices & { follow?: true | undefined; turn?: number | undefined },
): Promise<Answer | null> {
  const look = async (device: Device) => {
    if (choices.follow === true)
      return whileStaying(device, () => follow(door, device, task, { from: choices.turn, show: stepText }))
    const whole = await readWhole(device, task, choices.turn)
    return { json: whole, text: headText(whole, choices.turn) + whole.steps.map(stepText).join('') }
  }
  return hinted('look', task, () => withDevice(door, choices, look))
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
