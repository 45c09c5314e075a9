/** What to start: the owner of one turn. */
export interface OwnerLaunch {
  /** Arguments after the program's own entry, for example `task execute …`. */
  readonly args: readonly string[]
  /** An existing private file that takes the owner's standard output and error. */
  readonly diagnostic: string
}

/** How a process ended, as far as its parent learnt it. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: string | null
}

/** A turn's owner, running on its own. */
export interface LaunchedOwner {
  readonly pid: number
  /** Resolves at the owner's end while this process lives; it never keeps this process alive. */
  readonly exited: Promise<ProcessExit>
}

/** Starts the detached process that owns one turn. Refuses `start_owner` when it cannot be started. */
export interface Launcher {
  launch(launch: OwnerLaunch): Promise<LaunchedOwner>
}
