import { declare, group, type Parent } from '../declare.ts'
import { answer } from '../door.ts'

/** `drawbridge store rotate`. @see spec/store.md §6a */
export function addStore(program: Parent): void {
  const store = group(program, 'store', 'the task store as a whole', 'drawbridge store rotate')
  declare(
    store,
    'rotate',
    'puts the task store aside, when every task has ended and no service runs, and begins a new one',
    'drawbridge store rotate',
  ).action(async (_options, command) => {
    await answer(command, async (door) => (await import('../rotate.ts')).rotate(door))
  })
}
