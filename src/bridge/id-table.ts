/** Numbers by ID, in a piece of memory of one size. */
export interface IdTable {
  /** The number of an ID of 64 hex; undefined when it is not there. */
  get(id: string): number | undefined
  /** A new ID beyond the table's bound is a mistake of the caller's. @param value an integer from 0 to 2³² − 2 */
  set(id: string, value: number): void
  size(): number
  clear(): void
}

/** Half of an ID's bits: as hard to meet by chance or on purpose as a forged signature. */
const wordsKept = 4
const hexOfWord = 8

/**
 * A hash table of at most `max` IDs, open addressing in typed arrays: 40 bytes for each ID that it can hold, however many
 * it does, and nothing for the garbage collector to walk. The IDs are hashes themselves, so their first bits are their
 * place.
 */
export function idTable(max: number): IdTable {
  const slots = 2 ** Math.ceil(Math.log2(max * 2))
  const keys = new Uint32Array(slots * wordsKept)
  /** One more than the value; 0 is an empty place. */
  const values = new Uint32Array(slots)
  const sought = new Uint32Array(wordsKept)
  let count = 0

  /** Where an ID is, or the empty place where it belongs. */
  const placeOf = (id: string): number => {
    for (let word = 0; word < wordsKept; word += 1)
      sought[word] = Number.parseInt(id.slice(word * hexOfWord, (word + 1) * hexOfWord), 16)
    let place = (sought[0] ?? 0) % slots
    while (values[place] !== 0 && !isSought(place)) place = (place + 1) % slots
    return place
  }
  const isSought = (place: number): boolean => {
    for (let word = 0; word < wordsKept; word += 1)
      if (keys[place * wordsKept + word] !== sought[word]) return false
    return true
  }

  return {
    get(id) {
      const value = values[placeOf(id)] ?? 0
      return value === 0 ? undefined : value - 1
    },
    set(id, value) {
      const place = placeOf(id)
      if (values[place] === 0) {
        if (count === max) throw new Error('the table is full')
        count += 1
        keys.set(sought, place * wordsKept)
      }
      values[place] = value + 1
    },
    size: () => count,
    clear() {
      values.fill(0)
      count = 0
    },
  }
}
