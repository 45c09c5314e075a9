import type { Scenario } from '../scene.ts'
import { access, enrollments } from './access.ts'
import { admission } from './admission.ts'
import { commands } from './commands.ts'
import { invitations } from './invitations.ts'
import { relays } from './relays.ts'
import { silences } from './silences.ts'
import { tasks } from './tasks.ts'

/** Every exchange that is recorded. */
export const scenarios: readonly Scenario[] = [
  ...invitations,
  ...enrollments,
  ...admission,
  ...silences,
  ...access,
  ...tasks,
  ...commands,
  ...relays,
]
