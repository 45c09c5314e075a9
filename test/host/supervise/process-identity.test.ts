import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { readStat } from '../../../src/host/supervise/proc.ts'
import {
  groupMembers,
  isAlive,
  livingOf,
  readIdentity,
} from '../../../src/host/supervise/process-identity.ts'

const started: ChildProcess[] = []

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

function start(script: string): number {
  const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  started.push(child)
  return child.pid ?? 0
}

/** Resolves with the first word that the newest child says. */
async function word(): Promise<string> {
  const stream = started.at(-1)?.stdout
  if (stream === null || stream === undefined) throw new Error('no child')
  const [bytes] = await once(stream, 'data')
  return String(bytes).trim()
}

describe('a living process', () => {
  it('is known by number, start, boot and namespace', () => {
    const identity = readIdentity(start('exec sleep 30'))
    if (identity === null) throw new Error('not started')
    expect(isAlive(identity)).toBe(true)
    expect(identity.pid_namespace).toBe(readIdentity(process.pid)?.pid_namespace)
    expect(isAlive({ ...identity, start_ticks: identity.start_ticks - 1 })).toBe(false)
    expect(isAlive({ ...identity, boot_id: 'x' })).toBe(false)
  })

  it('may have any name', async () => {
    const pid = start(
      'exec perl -e \'$0="a) Z (b"; open(F,">/proc/self/comm"); print F ") Z 1 (x"; close F; $|=1; print "up\\n"; sleep 30\'',
    )
    await word()
    expect(readStat(pid)?.command).toBe(') Z 1 (x')
    expect(readStat(pid)?.state).toMatch(/[SRD]/)
    expect(readStat(pid)?.group).toBe(pid)
  })
})

describe('a zombie', () => {
  it('is not alive, alone or in its group', async () => {
    // The shell replaces itself by a program that never waits for its child; the child ends only after that.
    start('sh -c \'until [ "$(cat /proc/$PPID/comm)" = sleep ]; do :; done\' & echo $!; exec sleep 30')
    const child = Number(await word())
    const identity = readIdentity(child)
    await expect.poll(() => readStat(child)?.state).toBe('Z')
    expect(identity === null ? null : isAlive(identity)).toBe(false)
    const leader = started.at(-1)?.pid ?? 0
    expect(groupMembers(leader)).toEqual([leader])
  })
})

it('a process that is gone has no identity, and nothing of it lives', async () => {
  const pid = start('exit 0')
  const identity = readIdentity(pid)
  await once(started.at(-1) as ChildProcess, 'exit')
  expect(readIdentity(pid)).toBeNull()
  expect(identity === null ? null : livingOf({ ...identity, pid_namespace: null })).toEqual([])
})
