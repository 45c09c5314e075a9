import { describe, expect, it } from 'vitest'
import { firstLine, runHelper } from '../../../src/host/helper/run-helper.ts'

const sh = (script: string, options: Parameters<typeof runHelper>[2] = {}) =>
  runHelper('/bin/sh', ['-c', script], options)
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describe('a helper', () => {
  it('gives its exit code and both streams', async () => {
    const end = await sh('echo out; echo err >&2; exit 3')
    expect([end.exitCode, text(end.stdout), text(end.stderr)]).toEqual([3, 'out\n', 'err\n'])
    expect([end.timedOut, end.truncated, end.notStarted]).toEqual([false, false, null])
  })

  it('runs in the given directory with the given environment alone, standard input null', async () => {
    const end = await sh('pwd; /usr/bin/env; readlink /proc/self/fd/0; cat', { cwd: '/usr', env: { A: 'b' } })
    expect(text(end.stdout).split('\n').sort().join(' ').trim()).toBe('/dev/null /usr A=b PWD=/usr')
  })

  it('has no exit code when it does not end in time', async () => {
    const end = await sh('trap "" TERM; while :; do :; done', { timeoutMs: 100 })
    expect([end.exitCode, end.timedOut]).toEqual([null, true])
  })

  it('is ended when it prints more than it may', async () => {
    const end = await sh('yes', { bytesMax: 1_000 })
    expect(end.truncated).toBe(true)
    expect(end.exitCode).toBeNull()
    expect(end.stdout.length).toBeLessThanOrEqual(1_000)
  })

  it('has no exit code when a signal ends it', async () => {
    expect((await sh('kill -9 $$')).exitCode).toBeNull()
  })

  it('says why it was not started', async () => {
    const end = await runHelper('/nonexistent/program', [])
    expect([end.exitCode, end.notStarted]).toEqual([null, 'ENOENT'])
  })
})

it('the first line of a stream is short and without control characters', () => {
  expect(firstLine(Buffer.from('\n one\ttwo\u001b[31m\nthree'))).toBe('one two [31m')
  expect(firstLine(Buffer.from('x'.repeat(500)))).toHaveLength(200)
})
