import type { Writable } from 'node:stream'
import { type Clock, pause } from '../../seams/clock.ts'
import { childrenOf, readStat } from './proc.ts'

/** Holds a command back inside its boundary until its owner says go. */
export interface StartGate {
  /**
   * Lets the command run, as soon as the boundary's inner init waits for it: by then the init has bound its own end to
   * that of the boundary, and so of the owner. Before that an owner's death would leave it behind.
   * @param isOver whether the run is ending, which keeps the gate shut
   */
  open(clock: Clock, isOver: () => boolean): Promise<void>
}

const lookEveryMs = 1

/**
 * The gate is a stream whose other end the held command reads. An owner that dies closes it unopened, and the command
 * never begins.
 * @param innerInit process ID of the boundary's inner init, or null when there is none
 */
export function startGate(stream: Writable, innerInit: number | null): StartGate {
  // Its reader may be gone: the run's end tells that.
  stream.on('error', () => {})
  return {
    async open(clock, isOver) {
      while (innerInit !== null && !isWaiting(innerInit)) {
        if (isOver()) return
        await pause(clock, lookEveryMs)
      }
      if (!isOver()) stream.end('go\n')
    },
  }
}

/** Whether the init has its one child and sleeps: it sleeps nowhere else once it has it. */
function isWaiting(innerInit: number): boolean {
  const state = readStat(innerInit)?.state
  return state === undefined || (state === 'S' && childrenOf(innerInit).length > 0)
}
