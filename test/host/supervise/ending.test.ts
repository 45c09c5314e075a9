import { expect, it } from 'vitest'
import { endingOf, type Observed } from '../../../src/host/supervise/ending.ts'

const observed = (facts: Partial<Observed>): Observed => ({
  exit: { code: 0, signal: null },
  cause: null,
  commandRan: true,
  stderr: '',
  ...facts,
})
const killed = { code: null, signal: 'SIGKILL' }

it.each<[string, Partial<Observed>, string, number | null, boolean]>([
  ['an exit', { exit: { code: 3, signal: null } }, 'exit 3', 3, false],
  ['a signal', { exit: killed }, 'stopped by a signal', null, false],
  ['the deadline', { exit: killed, cause: 'deadline' }, 'timed out', null, false],
  ['the deadline, met with an exit', { cause: 'deadline' }, 'timed out', null, false],
  [
    'a stop that ended in an exit',
    { exit: { code: 143, signal: null }, cause: 'stop' },
    'exit 143',
    143,
    true,
  ],
  ['a stop that ended in a kill', { exit: killed, cause: 'stop' }, 'stopped by a signal', null, true],
  ['too much memory', { exit: killed, cause: 'memory' }, 'stopped by a signal', null, false],
  [
    'a boundary that could not be set up',
    { exit: { code: 1, signal: null }, commandRan: false, stderr: 'a\nbwrap: no\u0007 bind\n' },
    'failed: the boundary could not be set up: bwrap: no  bind',
    null,
    false,
  ],
  ['a boundary that would not end', { exit: null }, 'failed: the boundary would not end', null, false],
])('%s', (_name, facts, ending, exit_code, stop_requested) => {
  expect(endingOf(observed(facts))).toEqual({ ending, exit_code, stop_requested })
})
