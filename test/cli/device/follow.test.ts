import { describe, expect, it } from 'vitest'
import { follow } from '../../../src/cli/device/follow.ts'
import type { Door } from '../../../src/cli/door.ts'
import { Refusal, type RefusalCode } from '../../../src/protocol/refusal.ts'
import type { TaskDetail } from '../../../src/protocol/task-pages.ts'
import { fakeClock } from '../../support/fake-clock.ts'

type Said = RefusalCode | { readonly steps: readonly number[]; readonly phase: TaskDetail['phase'] }

/** Follows a task whose host says these things, one at each look; what was printed, warned and asked. */
function following(answers: readonly Said[], queue: readonly RefusalCode[] = [], from?: number) {
  const clock = fakeClock()
  const said = [...answers]
  const refusals = [...queue]
  const seen = { out: '', err: '', asked: [] as (string | undefined)[] }
  const door: Door = {
    home: '/nowhere',
    json: false,
    clock,
    out(text) {
      seen.out += text
    },
    err(text) {
      seen.err += text
    },
    refuseRoot() {},
    allowRoot: false,
    stopped: () => new Promise(() => {}),
  }
  const device = {
    async read(task: string, page: { cursor?: string } = {}): Promise<TaskDetail> {
      seen.asked.push(page.cursor)
      const next = said.shift()
      if (next === undefined) throw new Error('asked too often')
      if (typeof next === 'string') throw new Refusal(next, 'no answer in time')
      return detail(task, next)
    },
    async queue(task: string) {
      const code = refusals.shift()
      if (code !== undefined) throw new Refusal(code, 'no answer in time')
      return { task, revision: 3, lease: null, items: [] }
    },
  }
  const show = ({ text }: { text: string }) => `${text}\n`
  const done = follow(door, device, 'a'.repeat(64), { from, show })
  return { clock, seen, done }
}

function detail(task: string, { steps, phase }: Exclude<Said, string>): TaskDetail {
  const step = (number: number) => ({
    ...{ turn: 1, step: number, at: 0, role: 'system' as const, text: `step ${number}` },
    ...{ cut: false, stream: 'stdout' as const, ending: null, exit_code: null },
  })
  return {
    ...{ task, title: 'T', workspace: 'demo', revision: 3, status: 'running', phase, attention: 'none' },
    ...{ turn: 1, turn_revision: 1, updated_at: 0, steering: { native: false, emulation: false } },
    ...{ note: null, run_tasks: null, evidence: 'live', steps: steps.map(step), next: null },
  } as unknown as TaskDetail
}

const running = (...steps: number[]): Said => ({ steps, phase: 'running' })
const over = (...steps: number[]): Said => ({ steps, phase: 'completed' })

describe('following a task while nobody answers for a time', () => {
  it('it goes on where it was, says that it still follows, and ends with the turn', async () => {
    const { clock, seen, done } = following([
      running(),
      running(1, 2),
      ...(['timeout', 'timeout'] as const),
      running(3),
      over(4),
    ])
    await clock.advance(10_000)
    expect(await done).toBeNull()
    expect(seen.out).toBe('step 1\nstep 2\nstep 3\nstep 4\n')
    expect(seen.asked).toEqual([undefined, '1+0', '1+2', '1+2', '1+2', '1+3'])
    expect(seen.err).toBe('still following: no answer in time\n')
  })

  it('so it does when only the question for the queue is not answered', async () => {
    const { clock, seen, done } = following([over(), over(1)], ['timeout'])
    await clock.advance(10_000)
    expect(await done).toBeNull()
    expect(seen.out).toBe('step 1\n')
    expect(seen.asked).toHaveLength(2)
  })

  it.each([[undefined], [1]])('a host that was never there is a timeout (from turn %s)', async (from) => {
    const { done } = following(['timeout'], [], from)
    await expect(done).rejects.toMatchObject({ code: 'timeout' })
  })

  it('what the host refuses ends it', async () => {
    const { done } = following([running(), 'revoked'])
    await expect(done).rejects.toMatchObject({ code: 'revoked' })
  })
})
