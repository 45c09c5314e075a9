import type { Device } from '../../device/device.ts'
import type { Door } from '../door.ts'

/** Runs `work` with a device that stays connected and sends what waits meanwhile. What that refuses, this refuses. */
export async function whileStaying<T>(device: Device, work: () => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const staying = device.stay({}, stop.signal)
  const failed = staying.then(() => new Promise<never>(() => {}))
  try {
    return await Promise.race([work(), failed])
  } finally {
    stop.abort()
  }
}

/** How a command that goes on comes to its end. */
export interface GoingOn {
  readonly signal: AbortSignal
  /** Ends it. */
  stop(): void
  /** Whether a person or the system ended it. */
  interrupted(): boolean
  /** Runs something that may refuse where nobody could hear it: a refusal ends the command and is thrown by `check`. */
  guard(act: () => void): void
  /** Throws what `guard` caught. */
  check(): void
}

/** A command that goes on until it is stopped, or a signal comes. */
export function goingOn(door: Door): GoingOn {
  const stop = new AbortController()
  let interrupted = false
  let failure: unknown = null
  door.stopped().then(() => {
    interrupted = true
    stop.abort()
  })
  return {
    signal: stop.signal,
    stop: () => stop.abort(),
    interrupted: () => interrupted,
    guard(act) {
      try {
        act()
      } catch (error) {
        failure ??= error
        stop.abort()
      }
    },
    check() {
      if (failure !== null) throw failure
    },
  }
}
