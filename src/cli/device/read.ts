import type { Device } from '../../device/device.ts'
import type { TaskDetail, TaskStep } from '../../protocol/task-pages.ts'
import { pause } from '../../seams/clock.ts'
import type { Door } from '../door.ts'
import { type Answer, colours, facts } from '../output.ts'
import { jsonLine, printable, printableBlock } from '../printable.ts'
import { type DeviceChoices, withDevice } from './open.ts'

const followMs = 1_000

/**
 * The transcript of a task, every page of it, oldest step first; with `follow` new steps too, until the turn ends.
 */
export async function read(
  door: Door,
  task: string,
  choices: DeviceChoices & { follow?: true | undefined },
): Promise<Answer | null> {
  return withDevice(door, choices, async (device) => {
    if (choices.follow !== true) {
      const whole = await readWhole(device, task, null)
      return { json: whole, text: headText(whole) + whole.steps.map(stepText).join('') }
    }
    let shown: TaskStep | null = null
    for (;;) {
      const detail = await readWhole(device, task, shown)
      for (const step of detail.steps.filter((one) => isAfter(one, shown))) {
        door.out(door.json ? jsonLine(step) : stepText(step))
        shown = step
      }
      if (detail.phase !== 'queued' && detail.phase !== 'running') return null
      await pause(door.clock, followMs)
    }
  })
}

/** Reads pages, newest first, back to the steps that were shown already. */
async function readWhole(device: Device, task: string, shown: TaskStep | null): Promise<TaskDetail> {
  let detail = await device.read(task)
  let steps = inOrder(detail.steps)
  for (let next = detail.next; next !== null; next = detail.next) {
    if (shown !== null && steps.some((step) => !isAfter(step, shown))) break
    detail = await device.read(task, { workspace: detail.workspace, cursor: next })
    steps = [...inOrder(detail.steps), ...steps]
  }
  return { ...detail, steps, next: null }
}

function inOrder(steps: readonly TaskStep[]): TaskStep[] {
  return [...steps].sort((a, b) => a.turn - b.turn || a.step - b.step)
}

function isAfter(step: TaskStep, shown: TaskStep | null): boolean {
  return shown === null || step.turn > shown.turn || (step.turn === shown.turn && step.step > shown.step)
}

function headText(detail: TaskDetail): string {
  return facts([
    ['task', detail.task],
    ['title', detail.title],
    ['workspace', detail.workspace],
    ['phase', detail.phase],
    ['turn', String(detail.turn)],
    ['evidence', detail.evidence],
    ...(detail.note === null ? [] : [['note', detail.note] as const]),
  ])
}

/** One step for a person; an empty one, such as errors that were none, is nothing to show. */
function stepText(step: TaskStep): string {
  if (step.text === '') return ''
  const who = step.stream ?? step.role
  const head = colours.dim(`${String(step.turn)}.${String(step.step).padEnd(3)} ${printable(who).padEnd(7)}`)
  const body = printableBlock(step.text).replace(/\n$/, '').replaceAll('\n', '\n              ')
  const cut = step.cut ? colours.dim(' … there is more on the host') : ''
  return `${head} ${body}${cut}\n`
}
