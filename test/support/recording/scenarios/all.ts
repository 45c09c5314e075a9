import type { Scenario } from '../scene.ts'
import { invitations } from './invitations.ts'

/** Every exchange that is recorded. */
export const scenarios: readonly Scenario[] = [...invitations]
