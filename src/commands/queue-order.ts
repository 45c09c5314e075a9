import { type Entry, hasPriority, isDone, isHeld } from './journal-entry.ts'

/** The held messages of a task in the order they run: priority first, each part in journal order. Pure. */
export function runOrder(entries: readonly Entry[]): Entry[] {
  const held = entries.filter(isHeld)
  return [...held.filter(hasPriority), ...held.filter((entry) => !hasPriority(entry))]
}

/**
 * Whether a held message runs before `entry`. Pure.
 *
 * For a steer or a message sent now that is a held priority entry earlier in the journal; for any other, any held
 * priority entry or a held entry earlier.
 * @param entries the undecided entries of the task, in journal order
 * @see spec/commands.md §4
 */
export function isHeldAhead(entries: readonly Entry[], entry: Entry): boolean {
  const at = entries.indexOf(entry)
  const jumps = entry.promoted === true || entry.request.kind === 'steer'
  return entries.some((other, index) => {
    if (other === entry || !isHeld(other)) return false
    const isPriority = other.state.state === 'held' && other.state.priority
    return jumps ? isPriority && index < at : isPriority || index < at
  })
}

/** Whether an undecided interrupt of the same task comes after `entry`. Pure. @see spec/commands.md §4 */
export function hasNewerInterrupt(entries: readonly Entry[], entry: Entry): boolean {
  const at = entries.indexOf(entry)
  return entries.some((other, index) => index > at && other.request.kind === 'interrupt' && !isDone(other))
}
