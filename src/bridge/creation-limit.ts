import { createsPerHourMax } from '../limits.ts'
import type { Clock } from '../seams/clock.ts'

const hourMs = 3_600_000

/** Whether a device may create one more task, counted over the last hour of host time. A yes counts. */
export function createCreationLimit(clock: Clock): (device: string) => boolean {
  const created = new Map<string, number[]>()
  return (device) => {
    const now = clock.nowMs()
    const recent = (created.get(device) ?? []).filter((at) => at > now - hourMs && at <= now)
    const may = recent.length < createsPerHourMax
    if (may) recent.push(now)
    created.set(device, recent)
    return may
  }
}
