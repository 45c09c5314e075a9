import { fork } from 'node:child_process'
import type { Stalls } from '../stall.ts'
import type { Shares } from './profile.ts'
import type { Question, Reply, Usage } from './questions.ts'

/** A service in a process of its own that can be looked into. */
export interface Inside {
  readonly pid: number
  host(): Promise<string>
  /** @param collect garbage first */
  usage(collect?: boolean): Promise<Usage>
  counters(): Promise<Record<string, number>>
  /** Takes a profile of its processor time while `work` runs. */
  profiled(work: () => Promise<void>): Promise<Shares>
  /** Counts calls while `work` runs. */
  counted(work: () => Promise<void>): Promise<Record<string, number>>
  /** Watches its event loop while `work` runs. */
  stalled(work: () => Promise<void>): Promise<Stalls>
  /** What it saw since it was started to be watched. */
  stalls(): Promise<Stalls>
  /** Sets its clock ahead. */
  ahead(ms: number): Promise<void>
  /** Makes its reads of paths that fit slower. */
  slow(path: string | null, ms: number): Promise<void>
  stop(): Promise<void>
}

type About = Question extends infer One
  ? One extends { number: number }
    ? Omit<One, 'number'>
    : never
  : never

/**
 * Serves a home.
 * @param port of the embedded relay; 0: the relays of the settings
 * @param watched its event loop is watched from its start on
 */
export async function serveInside(home: string, port: number, watched = false): Promise<Inside> {
  const child = fork(
    new URL('./service.ts', import.meta.url),
    [home, String(port), ...(watched ? ['watch'] : [])],
    {
      execArgv: [...process.execArgv, '--expose-gc'],
    },
  )
  const waiting = new Map<number, (value: unknown) => void>()
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.on('message', ({ number, value }: Reply) => {
    waiting.get(number)?.(value)
    waiting.delete(number)
  })
  let number = 0
  const told = (at: number) =>
    new Promise<unknown>((resolve, reject) => {
      waiting.set(at, resolve)
      void ended.then(() => reject(new Error('the service ended')))
    })
  await told(0)
  const ask = <T>(about: About): Promise<T> => {
    number += 1
    const answer = told(number)
    child.send({ number, ...about })
    return answer as Promise<T>
  }
  return {
    pid: child.pid ?? 0,
    host: () => ask({ about: 'host' }),
    usage: (collect = false) => ask({ about: 'usage', collect }),
    counters: () => ask({ about: 'counters' }),
    async profiled(work) {
      await ask({ about: 'profile' })
      await work()
      return ask({ about: 'shares' })
    },
    async counted(work) {
      await ask({ about: 'count' })
      await work()
      return ask({ about: 'calls' })
    },
    async stalled(work) {
      await ask({ about: 'watch' })
      await work()
      return ask({ about: 'stalls' })
    },
    stalls: () => ask({ about: 'stalls' }),
    ahead: (ms) => ask({ about: 'ahead', ms }),
    slow: (path, ms) => ask({ about: 'slow', path, ms }),
    async stop() {
      child.send({ number: -1, about: 'stop' })
      await ended
    },
  }
}
