import type { ActivitySummary } from '../../protocol/bodies/activity-summary.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { Door } from '../door.ts'
import { colours, localTime } from '../output.ts'
import { jsonLine, printable } from '../printable.ts'
import { type DeviceChoices, withOwnDevice } from './open.ts'
import { goingOn } from './stay.ts'

/**
 * Prints how the tasks of the host stand, and a line for each change as it comes, until a person ends it. With
 * `--json` a line is the summary as the host sent it.
 */
export async function watch(door: Door, choices: DeviceChoices): Promise<null> {
  const going = goingOn(door)
  const told = (summary: ActivitySummary) =>
    going.guard(() => door.out(door.json ? jsonLine(summary) : summaryText(summary)))
  const host = (is: 'here' | 'stale') => {
    if (door.json) return
    door.err(is === 'here' ? 'the host is there\n' : 'the host has not shown itself for three minutes\n')
  }
  await withOwnDevice(door, choices, (device) => device.watch({ told, host }, going.signal))
  going.check()
  throw new Refusal('interrupted', 'the watch was ended')
}

/** One summary for a person: when, where it stands, what it says, and what it wants. */
function summaryText({ subject, phase, headline, attention, updated_at }: ActivitySummary): string {
  const wants = attention === 'approval' || attention === 'input' ? ` ← ${attention}` : ''
  const task = colours.dim(subject.id.slice(0, 12))
  return `${colours.dim(localTime(updated_at))}  ${task}  ${phase.padEnd(9)}  ${printable(headline)}${wants}\n`
}
