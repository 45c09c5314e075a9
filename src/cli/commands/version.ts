import { declare, type Parent } from '../declare.ts'
import { answer } from '../door.ts'
import { versionText } from '../version.ts'

/** `drawbridge version`. The plain form is answered by main.ts, before any of this is loaded. */
export function addVersion(program: Parent): void {
  declare(
    program,
    'version',
    'the version, of Node and of the protocol too',
    'drawbridge version --json',
  ).action(async (_options, command) => {
    await answer(command, async (door) => {
      door.out(versionText(door.json))
      return null
    })
  })
}
