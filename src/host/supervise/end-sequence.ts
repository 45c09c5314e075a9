import { groupGiveUpMs, termGraceMs } from '../../limits.ts'
import type { Clock, Timer } from '../../seams/clock.ts'
import { childrenOf, readStat } from './proc.ts'
import { namespaceOf, ownGroup } from './process-identity.ts'
import type { InnerInit, Sandbox } from './sandbox.ts'

/** Ends a sandbox's processes. */
export interface EndSequence {
  /** Terminates the command, then kills everything. Later calls change nothing. */
  begin(): void
  /** Kills everything at once. */
  kill(): void
  /** To be called when the boundary's own process has exited: kills what is left. */
  sweep(): void
  /** Resolves if the boundary's own process is still there long after it was killed. */
  readonly gaveUp: Promise<void>
}

/**
 * SIGTERM to the command itself (the boundary forwards none, and its inner init ignores it), 250 ms, then SIGKILL to
 * the boundary and its group, and to the inner init, whose end takes everything in its namespace along.
 * @see spec/execution.md §7
 */
export function createEndSequence(clock: Clock, sandbox: Sandbox, inner: InnerInit | null): EndSequence {
  const timers: Timer[] = []
  let begun = false
  let killed = false
  let exited = false
  let giveUp = () => {}
  const gaveUp = new Promise<void>((resolve) => {
    giveUp = resolve
  })
  const kill = (): void => {
    if (killed || exited) return
    killed = true
    // Not reaped yet, so the number is still its own.
    signal(-sandbox.identity.pid, 'SIGKILL')
    signal(sandbox.identity.pid, 'SIGKILL')
    killInner(inner)
    timers.push(clock.after(groupGiveUpMs, giveUp))
  }
  return {
    gaveUp,
    kill,
    begin() {
      if (begun || exited) return
      begun = true
      for (const pid of commandsOf(inner)) signal(pid, 'SIGTERM')
      timers.push(clock.after(termGraceMs, kill))
    },
    sweep() {
      exited = true
      for (const timer of timers) timer.cancel()
      killInner(inner)
      for (const pid of ownGroup(sandbox.identity)) signal(pid, 'SIGKILL')
    },
  }
}

/** The inner init's only child, found anew each time: its number is not known beforehand. */
function commandsOf(inner: InnerInit | null): number[] {
  if (inner === null || !isInner(inner)) return []
  return childrenOf(inner.pid).filter((pid) => namespaceOf(pid) === inner.namespace)
}

function killInner(inner: InnerInit | null): void {
  if (inner !== null && isInner(inner)) signal(inner.pid, 'SIGKILL')
}

function isInner(inner: InnerInit): boolean {
  return readStat(inner.pid)?.startTicks === inner.startTicks
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name)
  } catch {
    // Gone already.
  }
}
