import { declare, type Parent } from '../declare.ts'
import { answer } from '../door.ts'

/** `drawbridge demo`. @see spec/cli.md */
export function addDemo(program: Parent): void {
  declare(
    program,
    'demo',
    'plays the whole story in a temporary home and leaves nothing behind',
    'drawbridge demo',
  ).action(async (_options, command) => {
    await answer(command, async (door) => (await import('../demo/demo.ts')).demo(door))
  })
}
