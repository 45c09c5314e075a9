import { controlClient } from '../bridge/control-client.ts'
import type { Operator } from '../bridge/operator.ts'
import { homeDeps } from './deps.ts'
import type { Door } from './door.ts'

/** The local operator: over the control socket of the running service, or directly on the files when none runs. */
export function operatorOf(door: Door): Operator {
  return controlClient(homeDeps(door))
}
