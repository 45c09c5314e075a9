/** Work by key: one at a time for each, shared by all who ask meanwhile. */
export interface SingleFlight<T> {
  /**
   * The result of a run that began after this call. While one runs, all who ask share the next, and go on in the
   * order they asked.
   */
  ask(key: string): Promise<T>
  /** Resolves when nothing runs any more. */
  idle(): Promise<void>
}

interface Flight<T> {
  readonly current: Promise<T>
  next: Promise<T> | null
}

/** Serialises `run` per key; different keys are independent. @param run rejections reach those who asked */
export function singleFlight<T>(run: (key: string) => Promise<T>): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>()

  const start = (key: string): Promise<T> => {
    const flight: Flight<T> = { current: run(key), next: null }
    flights.set(key, flight)
    const leave = () => {
      if (flight.next === null) flights.delete(key)
    }
    flight.current.then(leave, leave)
    return flight.current
  }

  return {
    ask(key) {
      const flight = flights.get(key)
      if (flight === undefined) return start(key)
      const again = () => start(key)
      flight.next ??= flight.current.then(again, again)
      return flight.next
    },
    async idle() {
      while (flights.size > 0) {
        await Promise.allSettled([...flights.values()].map((flight) => flight.next ?? flight.current))
      }
    },
  }
}
