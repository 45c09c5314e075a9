import type { SnapshotEntry } from './entry.ts'

/** Created entries that a removed one may have become. */
export interface RenameCandidates {
  /** The first candidate with the same device and inode; the last candidate takes its place. */
  take(removed: SnapshotEntry): SnapshotEntry | null
  rest(): readonly SnapshotEntry[]
}

/**
 * Pairs removed with created entries exactly as a search from the front with swap-removal does, without its cost:
 * a tree of hard links to one file has as many candidates as paths.
 */
export function createRenameCandidates(created: readonly SnapshotEntry[]): RenameCandidates {
  const slots = [...created]
  const places = new Map<string, number[]>()
  slots.forEach((entry, place) => {
    const heap = places.get(idOf(entry))
    if (heap === undefined) places.set(idOf(entry), [place])
    // Places come in rising order here, so appending keeps the heap.
    else heap.push(place)
  })
  return {
    take(removed) {
      const id = idOf(removed)
      const heap = places.get(id)
      if (heap === undefined) return null
      // A place is stale once the list is shorter than it, or another file's entry moved there.
      for (let place = popSmallest(heap); place !== undefined; place = popSmallest(heap)) {
        const entry = slots[place]
        if (entry === undefined || idOf(entry) !== id) continue
        const last = slots.pop()
        if (last !== undefined && place < slots.length) {
          slots[place] = last
          pushPlace(places.get(idOf(last)) ?? [], place)
        }
        return entry
      }
      return null
    },
    rest: () => slots,
  }
}

function idOf(entry: SnapshotEntry): string {
  return `${entry.dev}:${entry.ino}`
}

function pushPlace(heap: number[], place: number): void {
  heap.push(place)
  for (let at = heap.length - 1; at > 0; ) {
    const above = (at - 1) >> 1
    if (valueAt(heap, above) <= valueAt(heap, at)) return
    swap(heap, above, at)
    at = above
  }
}

function popSmallest(heap: number[]): number | undefined {
  const smallest = heap[0]
  const last = heap.pop()
  if (smallest === undefined || last === undefined || heap.length === 0) return smallest
  heap[0] = last
  for (let at = 0; ; ) {
    const left = 2 * at + 1
    const child = valueAt(heap, left + 1) < valueAt(heap, left) ? left + 1 : left
    if (valueAt(heap, child) >= valueAt(heap, at)) return smallest
    swap(heap, child, at)
    at = child
  }
}

function valueAt(heap: readonly number[], at: number): number {
  return heap[at] ?? Number.POSITIVE_INFINITY
}

function swap(heap: number[], a: number, b: number): void {
  const held = valueAt(heap, a)
  heap[a] = valueAt(heap, b)
  heap[b] = held
}
