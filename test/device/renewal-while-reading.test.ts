import { describe, expect, it } from 'vitest'
import type { Result } from '../../src/protocol/bodies/reply.ts'
import type { TaskDetail, TaskStep } from '../../src/protocol/task-pages.ts'
import { pause } from '../../src/seams/clock.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { usualAnswer } from '../support/answering-host.ts'
import { simulatedStage } from './simulated-stage.ts'

const task = '7a'.repeat(32)

describe('P6: a renewal while a turn is followed', () => {
  it('leaves no gap in the steps and drops no connection', async () => {
    const stage = await simulatedStage()
    const { host, clock, relay } = stage
    const device = await stage.openPaired()
    const { device: me, paired } = await device.whoami()
    let written = 0
    host.answer = (heard): Result | null => {
      const { op } = heard.request
      if (op.kind !== 'task.read') return usualAnswer(host, heard)
      const after = Number(op.query.cursor?.split('+')[1] ?? 0)
      const steps = Array.from({ length: Math.min(written - after, op.query.limit) }, (_, at) =>
        step(after + at + 1),
      )
      return { status: 'ok', outcome: { kind: 'task', task: { ...detail, steps, next: null } } }
    }
    const stop = new AbortController()
    const staying = device.stay({}, stop.signal)
    const seen: number[] = []
    let dialled = 0
    for (let second = 0; second < 60; second += 1) {
      written += 3
      if (second === 5) dialled = relay.dialled('device')
      if (second === 30)
        host.publish(host.grantFor(me, { expires_at: (paired?.expires_at ?? 0) + 3_600 }).authorization)
      const cursor = `1+${seen.length}`
      const page = await stage.run(device.read(task, { workspace: 'demo', cursor }))
      seen.push(...page.steps.map((one) => one.step))
      await clock.advance(1_000)
    }
    expect(seen).toEqual(seen.map((_, at) => at + 1))
    expect(seen.length).toBe(written)
    const grants = new Set(host.heard.map(({ request }) => request.grant))
    const renewed = (await device.whoami()).paired?.grant
    expect([...grants]).toEqual([null, paired?.grant, renewed])
    expect(renewed).not.toBe(paired?.grant)
    expect(relay.dialled('device')).toBe(dialled)
    stop.abort()
    await stage.run(staying)
  })
})

describe('a send that waits across the end of its grant', () => {
  it('is signed under the renewal that the relay holds, not sent again under the grant that is over', async () => {
    const stage = await simulatedStage()
    const { host, clock } = stage
    const device = await stage.openPaired()
    const { device: me, paired } = await device.whoami()
    const expires = paired?.expires_at ?? 0
    await clock.advance((expires - 10) * 1000 - clock.nowMs())
    host.answer = () => null
    const sent = await stage.run(device.command({ task, action: 'queue', text: 'x', based_on: 1 }))
    expect(sent.state).toBe('unknown')
    device.close()
    const { grant, authorization } = host.grantFor(me, { expires_at: expires + 86_400 })
    host.publish(authorization)
    await clock.advance(10_000)
    host.answer = (heard) => usualAnswer(host, heard)
    // The disk takes its time, and nothing is planned before the renewal is on it.
    const slow: Disk = {
      ...stage.disk,
      async replace(...args) {
        if (args[0].endsWith('access.json')) await pause(clock, 1_000)
        await stage.disk.replace(...args)
      },
    }
    const next = await stage.run(stage.open(5_000, slow))
    expect(await stage.run(next.flush())).toMatchObject([{ id: sent.id, state: 'accepted' }])
    expect(host.heard.map(({ request }) => request.grant)).toEqual([null, paired?.grant, grant.grant])
  })
})

const step = (at: number): TaskStep => ({
  turn: 1,
  step: at,
  at: 1_795_000_000,
  role: 'agent',
  text: `step ${at}`,
  cut: false,
  stream: null,
  ending: null,
  exit_code: null,
})

const detail: Omit<TaskDetail, 'steps' | 'next'> = {
  task,
  title: 'T',
  workspace: 'demo',
  revision: 2,
  status: 'running',
  phase: 'running',
  attention: 'none',
  turn: 1,
  turn_start_revision: 1,
  updated_at: 1_795_000_000,
  steering: { native: 'unsupported', emulation: null },
  note: null,
  run_tasks: [],
  evidence: 'unsealed',
  cost_usd: null,
  cost_status: 'unknown',
}
