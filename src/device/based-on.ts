import { lookFreshMs } from '../limits.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { askFor, type DeviceState } from './ask.ts'
import type { NewCommand } from './device.ts'

/**
 * The revision that a command answers to: one that the person who gave it could have seen.
 *
 * A message that starts or awaits a turn goes with the last revision that this device saw, or 0. What acts on the
 * turn that is there asks the host, but an answer later than `lookFreshMs` after the command was given may be about
 * a turn that began since: it counts as not seen, and the last revision seen before it is used. Refuses `timeout`
 * when there is none.
 * @param givenMs when the command was given, milliseconds of device time
 */
export async function basedOn(state: DeviceState, command: NewCommand, givenMs: number): Promise<number> {
  const { task, action, based_on } = command
  if (based_on !== undefined) return based_on
  const seen = (await state.pairing.paired().outbox.seen(task))?.revision ?? null
  if (action === 'send' || action === 'queue') return seen ?? 0
  const look = await lookAt(state, task, givenMs)
  if ('revision' in look) return look.revision
  // If the host refuses to say, it will refuse the command too, and in its own words.
  if (seen !== null || look.refused) return seen ?? 0
  throw new Refusal(
    'timeout',
    `the ${action} was not kept: this device has never seen the task, and was not told within ${lookFreshMs / 1000} seconds how it stands: ${look.why}`,
    { hint: `drawbridge device read ${task}` },
  )
}

type Look = { readonly revision: number } | { readonly refused: boolean; readonly why: string }

async function lookAt(state: DeviceState, task: string, givenMs: number): Promise<Look> {
  const { clock } = state.options
  const waitMs = Math.min(state.waitMs, lookFreshMs)
  try {
    const { queue } = await askFor(
      state,
      { kind: 'task.queue', task, edit: { action: 'list' } },
      'queue',
      waitMs,
    )
    const tookMs = clock.nowMs() - givenMs
    // A clock that was set back cannot say how late it is.
    if (tookMs < 0 || tookMs > lookFreshMs) return { refused: false, why: 'the answer came too late' }
    await state.pairing.paired().outbox.see([{ task, revision: queue.revision, workspace: null }])
    return { revision: queue.revision }
  } catch (error) {
    if (isRefusal(error)) return { refused: error.code !== 'timeout', why: error.message }
    throw error
  }
}
