import type { Device } from '../../device/device.ts'
import { isRefusal } from '../../protocol/refusal.ts'
import type { TaskDetail, TaskStep } from '../../protocol/task-pages.ts'
import { pause } from '../../seams/clock.ts'
import type { Door } from '../door.ts'
import { jsonLine, printable } from '../printable.ts'

const followMs = 1_000

/**
 * Prints a task from a turn on, the current one when none is named, until the current one is over and no message waits.
 * Once the host has answered, its silence is waited out and said, and nothing is printed twice or left out for it.
 * @param how.show one step for a person
 */
export async function follow(
  door: Door,
  device: Pick<Device, 'read' | 'queue'>,
  task: string,
  how: { from: number | undefined; show: (step: TaskStep) => string },
): Promise<null> {
  const tell = teller(door)
  let turn = how.from ?? (await device.read(task, { limit: 1 })).turn
  let step = 0
  let isThere = how.from === undefined
  const patiently = async <T>(look: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        const seen = await look()
        isThere = true
        return seen
      } catch (error) {
        if (!isThere || !isRefusal(error, 'timeout')) throw error
        tell(`still following: ${error.message}`)
        await pause(door.clock, followMs)
      }
    }
  }
  for (;;) {
    const detail = await patiently(() => device.read(task, { cursor: cursorAfter(turn, step) }))
    for (const one of detail.steps) {
      door.out(door.json ? jsonLine(one) : how.show(one))
      step = one.step
    }
    if (detail.next !== null) continue
    if (detail.turn > turn) {
      turn += 1
      step = 0
      continue
    }
    const why = await patiently(() => waitsFor(device, detail))
    if (why === null) return null
    tell(why)
    await pause(door.clock, followMs)
  }
}

/** The cursor for what comes after a step of a turn; 0 is before the first. */
export function cursorAfter(turn: number, step: number): string {
  return `${turn}+${step}`
}

/** Why a follower who has seen all of the current turn goes on, in words if there is something to say; else null. */
async function waitsFor(
  device: Pick<Device, 'queue'>,
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
