import { groupClearMs, groupClearPollMs, groupGiveUpMs } from '../../limits.ts'
import { type Clock, pause } from '../../seams/clock.ts'
import { readStat } from './proc.ts'
import { livingOf } from './process-identity.ts'
import type { InnerInit, Sandbox } from './sandbox.ts'

const slowPollMs = 100

/**
 * Waits until no process of the run is alive in any session or group: closely for 250 ms, then patiently up to 10 s.
 * A zombie does not count: under a slow host init the inner one stays for seconds.
 * @see spec/execution.md §7
 */
export async function waitGroupClear(
  clock: Clock,
  sandbox: Sandbox,
  inner: InnerInit | null,
): Promise<boolean> {
  for (let waited = 0; waited < groupGiveUpMs; ) {
    if (isClear(sandbox, inner)) return true
    const step = waited < groupClearMs ? groupClearPollMs : slowPollMs
    await pause(clock, step)
    waited += step
  }
  return isClear(sandbox, inner)
}

function isClear({ identity }: Sandbox, inner: InnerInit | null): boolean {
  // The inner init dies last: while it lives there is no need to look at every process of the machine.
  if (inner !== null && isLiving(inner)) return false
  return livingOf({ ...identity, pid_namespace: inner?.namespace ?? null }).length === 0
}

function isLiving(inner: InnerInit): boolean {
  const stat = readStat(inner.pid)
  return stat !== null && stat.startTicks === inner.startTicks && stat.state !== 'Z' && stat.state !== 'X'
}
