/** Draws that follow from a seed. */
export interface Dice {
  readonly seed: number
  /** From 0 (included) to 1. */
  next(): number
  /** A whole number from 0 to `max - 1`. */
  below(max: number): number
  /** Whether something with this chance happens. */
  chance(chance: number): boolean
  pick<T>(from: readonly T[]): T
}

/** @param seed a whole number; only its lower 32 bits count */
export function dice(seed: number): Dice {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (max: number): number => Math.floor(next() * max)
  return {
    seed,
    next,
    below,
    chance: (chance) => next() < chance,
    pick<T>(from: readonly T[]): T {
      const picked = from[below(from.length)]
      if (picked === undefined) throw new Error('nothing to pick from')
      return picked
    },
  }
}
