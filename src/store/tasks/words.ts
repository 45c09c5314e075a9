/** What a task is doing. @see spec/store.md §5 */
export const taskStatuses = [
  'queued',
  'cancelled',
  'running',
  'cancel_requested',
  'finished',
  'unknown',
] as const
export type TaskStatus = (typeof taskStatuses)[number]

/** How the current turn's execution stands. */
export const executionStates = ['not_started', 'running', 'finished', 'failed', 'stopped', 'unknown'] as const
export type ExecutionState = (typeof executionStates)[number]

/** What independent checks said of the current turn. */
export const checkStates = ['not_run', 'running', 'passed', 'failed', 'unavailable', 'disputed'] as const
export type CheckState = (typeof checkStates)[number]

/** The one adapter that needs no configuration in its grant. */
export const boundedCommand = 'bounded-command'

/** Why a correction stopped a running turn: replayed state, so its words are fixed. @see spec/store.md §3 */
export const correctedWhileRunning = 'corrected while running'

/** How settle ends a run whose owner process is gone. @see spec/execution.md §10 */
export const ownerProcessEnded = 'owner_process_ended'
