import {
  hostEventsMax,
  identitiesBytesMax,
  identitiesMax,
  taskFileSoftBytesMax,
  tasksMax,
  tightPercent,
  turnsMax,
} from '../../limits.ts'
import { turnOf } from './derived.ts'
import type { IdentityCounts } from './identities.ts'
import type { VerifiedTask } from './task-file.ts'

/** How much of a capacity is used. */
export interface Filling {
  readonly what: string
  readonly used: number
  readonly max: number
  /** The task whose own capacity it is; without one it is the whole store's. */
  readonly task?: string
}

/** Whether at least 80 % is used. @see spec/store.md §6a */
export function isTight({ used, max }: Filling): boolean {
  return used * 100 >= max * tightPercent
}

/** The capacities of a whole store. Pure. */
export function storeFillings({ tasks, commands, bytes }: IdentityCounts): Filling[] {
  return [
    { what: 'tasks', used: tasks, max: tasksMax },
    { what: 'command IDs', used: commands, max: identitiesMax },
    { what: 'bytes of identities.log', used: bytes, max: identitiesBytesMax },
  ]
}

/** The capacities of one task. Pure. */
export function taskFillings({ task, eventCount, bytes }: VerifiedTask): Filling[] {
  const of = { task: task.task_id }
  return [
    { what: 'turns', used: turnOf(task), max: turnsMax, ...of },
    { what: 'host events', used: eventCount, max: hostEventsMax, ...of },
    { what: 'bytes of history', used: bytes, max: taskFileSoftBytesMax, ...of },
  ]
}
