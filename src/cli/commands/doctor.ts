import { declare, type Parent } from '../declare.ts'
import { answer } from '../door.ts'

/** `drawbridge doctor`. @see spec/cli.md */
export function addDoctor(program: Parent): void {
  declare(
    program,
    'doctor',
    'checks what a host needs, and says what to do where something is missing; exits 1 then',
    'drawbridge doctor',
  ).action(async (_options, command) => {
    await answer(command, async (door) => (await import('../doctor.ts')).examine(door))
  })
}
