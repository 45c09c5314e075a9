import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openOutbox } from '../../src/device/outbox.ts'
import { planSend, type Undecided } from '../../src/device/outbox-entry.ts'
import { outboxDecidedMax, outboxUndecidedMax } from '../../src/limits.ts'
import { realDisk } from '../../src/store/disk.ts'
import { artifact } from '../support/artifact.ts'
import { testKey } from '../support/keys.ts'
import { refused } from '../support/refusals.ts'
import { tempDir } from '../support/temp-dir.ts'

const host = testKey(11)
const task = '7a'.repeat(32)
const grant = '1a'.repeat(32)
const now = 1_795_000_000
const id = (index: number): string => (index + 1).toString(16).padStart(64, '0')

function entry(
  index: number,
  kind: 'create' | 'queue' = 'queue',
  attempt: Undecided['attempt'] = null,
): Undecided {
  const op: Undecided['op'] =
    kind === 'create'
      ? { kind: 'task.create', task: { title: 'T', prompt: 'P', workspace: 'demo' } }
      : {
          kind: 'task.command',
          command: {
            command: id(index),
            task,
            action: 'queue',
            based_on: 0,
            text: 'x',
            emulate: false,
            issued_at: now,
          },
        }
  return { id: id(index), kind, task, queued_at: now, state: 'undecided', op, attempt, why: 'not sent yet' }
}

const attempt = (issued_at: number, request = id(99)): NonNullable<Undecided['attempt']> => ({
  request,
  event: artifact(testKey(13), host.publicKey),
  grant,
  issued_at,
  expires_at: issued_at + 60,
})

describe('the plan for an entry', () => {
  it.each<[string, Undecided, number, string, object]>([
    ['a command never sent', entry(0), now, grant, { plan: 'sign', request: null }],
    ['a create never sent', entry(0, 'create'), now, grant, { plan: 'sign', request: id(0) }],
    ['a command asked 59 s ago', entry(0, 'queue', attempt(now)), now + 59, grant, { plan: 'resend' }],
    [
      'a command asked 60 s ago',
      entry(0, 'queue', attempt(now)),
      now + 60,
      grant,
      { plan: 'sign', request: null },
    ],
    [
      'a command asked under an older grant',
      entry(0, 'queue', attempt(now)),
      now,
      id(5),
      { plan: 'sign', request: null },
    ],
    ['a create asked 59 s ago', entry(0, 'create', attempt(now, id(0))), now + 59, grant, { plan: 'resend' }],
    [
      'a create asked 60 s ago',
      entry(0, 'create', attempt(now, id(0))),
      now + 60,
      grant,
      { plan: 'wait', until: now + 121 },
    ],
    [
      'a create asked 120 s ago',
      entry(0, 'create', attempt(now, id(0))),
      now + 120,
      grant,
      { plan: 'wait', until: now + 121 },
    ],
    [
      'a create asked 121 s ago',
      entry(0, 'create', attempt(now, id(0))),
      now + 121,
      grant,
      { plan: 'sign', request: id(0) },
    ],
    [
      'a create asked under an older grant',
      entry(0, 'create', attempt(now, id(0))),
      now,
      id(5),
      { plan: 'wait' },
    ],
    [
      'a create asked before the clock went back',
      entry(0, 'create', attempt(now, id(0))),
      now - 3_600,
      grant,
      { plan: 'sign', request: id(0) },
    ],
  ])('%s', (_, given, at, current, plan) => {
    expect(planSend(given, at, current)).toMatchObject(plan)
  })

  it('signs a command that is still fresh again where something changed, but no create', () => {
    expect(planSend(entry(0, 'queue', attempt(now)), now + 5, grant, true)).toEqual({
      plan: 'sign',
      request: null,
    })
    expect(planSend(entry(0, 'create', attempt(now, id(0))), now + 5, grant, true)).toMatchObject({
      plan: 'resend',
    })
  })
})

describe('the outbox', () => {
  let dir: string
  const open = (of = host.publicKey) => openOutbox(realDisk, dir, of)

  beforeEach(async () => {
    dir = await tempDir()
  })

  it('keeps what it was given, in order, for whoever opens it next', async () => {
    await open().add(entry(0))
    await open().add(entry(1, 'create'))
    await open().attempt(id(1), attempt(now, id(1)))
    await open().explain(id(0), 'because')
    const entries = await open().entries()
    expect(entries.map((one) => one.id)).toEqual([id(0), id(1)])
    expect(entries).toMatchObject([{ why: 'because' }, { attempt: { request: id(1) } }])
  })

  it('decides each once, and then holds none of its text', async () => {
    const outbox = open()
    await outbox.add(entry(0))
    await outbox.add(entry(1))
    await outbox.decide(id(0), { status: 'refused', code: 'missing_right', missing: 'operate' })
    await outbox.decide(id(0), { status: 'refused', code: 'stale', missing: null })
    await outbox.explain(id(0), 'late')
    expect(await outbox.entries()).toEqual([
      {
        id: id(0),
        kind: 'queue',
        task,
        queued_at: now,
        state: 'refused',
        code: 'missing_right',
        missing: 'operate',
      },
      entry(1),
    ])
  })

  it('never forgets what is undecided, and only the oldest of what is decided', async () => {
    const outbox = open()
    const decided = { status: 'refused', code: 'stale', missing: null } as const
    await outbox.add(entry(0))
    for (let index = 1; index <= outboxDecidedMax + 3; index += 1) {
      await outbox.add(entry(index))
      await outbox.decide(id(index), decided)
    }
    const entries = await outbox.entries()
    expect(entries).toHaveLength(outboxDecidedMax + 1)
    expect(entries.slice(0, 2).map((one) => one.id)).toEqual([id(0), id(4)])
  })

  it('refuses more than it can hold undecided', async () => {
    const outbox = open()
    for (let index = 0; index < outboxUndecidedMax; index += 1) await outbox.add(entry(index))
    await refused('rate_limited', outbox.add(entry(outboxUndecidedMax)))
    expect(await outbox.entries()).toHaveLength(outboxUndecidedMax)
  })

  it('remembers what was seen of tasks, zero too', async () => {
    const outbox = open()
    await outbox.see([{ task, revision: 0, workspace: null }])
    expect(await outbox.seen(task)).toEqual({ task, revision: 0, workspace: null })
    await outbox.see([{ task, revision: null, workspace: 'demo' }])
    await outbox.see([{ task, revision: 3, workspace: null }])
    expect(await open().seen(task)).toEqual({ task, revision: 3, workspace: 'demo' })
    expect(await outbox.seen(id(7))).toBeNull()
  })

  it.each([
    ['cut short', '{"schema":"drawbridge.device-outbox.v1"'],
    ['of another kind', '{"schema":"something.else"}\n'],
  ])('that is %s is refused and left as it is', async (_, text) => {
    const path = join(dir, 'outbox.json')
    await writeFile(path, text)
    await chmod(path, 0o600)
    await refused('malformed', open().entries())
    await refused('malformed', open().add(entry(0)))
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  it('of another host is refused and left as it is', async () => {
    await open().add(entry(0))
    await refused('conflict', open(testKey(20).publicKey).add(entry(1)))
    expect(await open().entries()).toHaveLength(1)
  })

  it('is changed by many at once without losing a change', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, index) => open().add(entry(index))))
    expect(await open().entries()).toHaveLength(12)
  })

  it('lets one send at a time', async () => {
    const first = await open().sender(0)
    await refused('store_busy', open().sender(20))
    await first.release()
    await (await open().sender(0)).release()
  })
})
