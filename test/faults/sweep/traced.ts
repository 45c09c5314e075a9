import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { type Going, goingOn, program, programOptions } from '../../support/door.ts'
import { durableCalls, type Point } from './calls.ts'

/** How a call is made to fail. A killed call is not made; the others fail once, or from then on until `lift`. */
export type Fault = 'kill' | 'EIO' | 'ENOSPC'

/** The real service under the eyes of strace. */
export interface Traced extends Going {
  /** Ends the tracing, and so the fault; the service goes on. */
  lift(): Promise<void>
  /** Whether the call that was to fail was made. */
  wasHit(): Promise<boolean>
  /** What strace wrote. */
  log(): Promise<string>
}

/**
 * Serves `home`. With a point, only calls on its path are traced and counted, so that neither sockets nor other files
 * shift the count.
 */
export function traced(home: string, log: string, fault?: { point: Point; fault: Fault }): Traced {
  const strace = [
    '-f',
    '-y',
    '-q',
    '-e',
    'signal=none',
    '-o',
    log,
    ...(fault ? inject(home, fault) : watching),
  ]
  const serve = [process.execPath, program, 'serve', '--loopback-test', '--log-level', 'error', '--json']
  const env = { ...programOptions(home).env, UV_THREADPOOL_SIZE: '1' }
  const child = execa('strace', [...strace, ...serve], { ...programOptions(home), env })
  const left = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const going = goingOn(child, serve)
  return {
    ...going,
    async stop(signal = 'SIGTERM') {
      const pid = Number(await readFile(join(home, 'run', 'pid'), 'utf8').catch(() => ''))
      try {
        if (pid > 0) process.kill(pid, signal)
      } catch {
        // It has ended by itself.
      }
      return await going.ended
    },
    async lift() {
      // Asked in a friendlier way, it would take the service with it.
      child.kill('SIGKILL')
      await left
    },
    async wasHit() {
      return fault !== undefined && isHit(await readFile(log, 'utf8'), fault.fault)
    },
    log: () => readFile(log, 'utf8'),
  }
}

const watching = ['-e', `trace=${durableCalls.join(',')}`]

/** Whether strace wrote that the call which was to fail was made. */
export function isHit(log: string, fault: Fault): boolean {
  return fault === 'kill' ? /= \?$/m.test(log) : log.includes('(INJECTED)')
}

/** What strace has to be told for one fault; only calls on its path are traced and counted. */
export function inject(
  home: string,
  { point: { call, path, nth }, fault }: { point: Point; fault: Fault },
): string[] {
  const how =
    fault === 'kill'
      ? `signal=KILL:when=${nth}`
      : `error=${fault}:when=${nth}${fault === 'ENOSPC' ? '+' : ''}`
  return ['-P', join(home, path), '-e', `trace=${call}`, '-e', `inject=${call}:${how}`]
}
