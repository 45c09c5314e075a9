import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDevice } from '../../src/device/client.ts'
import type { Device } from '../../src/device/device.ts'
import type { Result } from '../../src/protocol/bodies/reply.ts'
import { encodeInvitation } from '../../src/protocol/invitation.ts'
import { deviceTaskId } from '../../src/protocol/task-id.ts'
import type { TaskItem } from '../../src/protocol/task-pages.ts'
import { type Relay, startRelay } from '../../src/relay/listen.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { realDisk } from '../../src/store/disk.ts'
import { type AnsweringHost, answeringHost, type Heard, usualAnswer } from '../support/answering-host.ts'
import { testKey } from '../support/keys.ts'
import { movableClock } from '../support/movable-clock.ts'
import { refused } from '../support/refusals.ts'
import { tempDir } from '../support/temp-dir.ts'

const clock = movableClock()
const task = '7a'.repeat(32)

let relay: Relay
let host: AnsweringHost
let dir: string
let devices: Device[]

beforeEach(async () => {
  clock.reset()
  devices = []
  dir = join(await tempDir(), 'device')
  relay = await startRelay({ clock, random: systemRandom, host: '127.0.0.1', port: 0, serves: () => null })
  host = answeringHost(relay.url, clock)
  await host.live
})

afterEach(async () => {
  for (const device of devices) device.close()
  host.close()
  await relay.close()
})

async function open(waitMs = 250, disk: Disk = realDisk): Promise<Device> {
  const options = {
    disk,
    clock,
    random: systemRandom,
    dial: dialRelay,
    dir,
    policy: 'loopback_test',
    waitMs,
  } as const
  const device = await openDevice(options)
  devices.push(device)
  return device
}

async function openPaired(waitMs = 250): Promise<Device> {
  const device = await open(5_000)
  await device.redeem(host.invite().code)
  return waitMs === 5_000 ? device : open(waitMs)
}

const commandsHeard = (heard: readonly Heard[] = host.heard) =>
  heard.flatMap(({ request: { op } }) => (op.kind === 'task.command' ? [op.command] : []))

describe('pairing', () => {
  it('keeps its key, its access record and nothing of the capability, privately', async () => {
    const device = await open(5_000)
    const { code, invitation } = host.invite()
    const me = await device.redeem(code)
    expect(me).toEqual(await (await open()).whoami())
    expect(me).toMatchObject({
      paired: { host: host.key.publicKey, relay: relay.url, rights: ['observe', 'operate'] },
    })
    for (const name of ['device.key', 'access.json']) {
      expect((await stat(join(dir, name))).mode & 0o777).toBe(0o600)
      expect(await readFile(join(dir, name), 'utf8')).not.toContain(invitation.capability)
    }
    expect((await stat(dir)).mode & 0o777).toBe(0o700)
    expect(host.heard[0]?.request).toMatchObject({ grant: null, epoch: null })
  })

  it('can send as its very first action, every time', async () => {
    const device = await openPaired(5_000)
    for (let run = 0; run < 20; run += 1) {
      const sent = await device.create({ title: `Run ${run}`, prompt: 'Go.', workspace: 'demo' })
      expect(sent.state).toBe('accepted')
    }
  })

  it('of a second host in one directory refuses before the invitation is used', async () => {
    await openPaired()
    const other = {
      ...host.invite().invitation,
      host: testKey(20).publicKey,
    }
    await refused('conflict', (await open()).redeem(encodeInvitation(other)))
  })

  it.each([
    ['refused by the host', 'revoked'],
    ['not answered', 'timeout'],
  ])('that is %s says %s', async (_, code) => {
    host.answer = () => (code === 'timeout' ? null : { status: 'refused', code: 'revoked', missing: null })
    await refused(code as 'revoked' | 'timeout', (await open()).redeem(host.invite().code))
    expect((await (await open()).whoami()).paired).toBeNull()
  })

  it.each([
    ['another device', (me: string) => ({ device: me.replace(/^../, 'f2') })],
    ['another relay', () => ({ relay: 'wss://elsewhere.example/' })],
    [
      'another invitation',
      () => ({ origin: { kind: 'invitation', id: 'ab'.repeat(32), issuer: host.key.publicKey } }),
    ],
  ])('does not take a grant for %s', async (_, changes) => {
    const device = await open()
    const { device: me } = await device.whoami()
    host.answer = () => {
      const made = host.grantFor(me)
      const grant = { ...made.grant, ...(changes(me) as object) }
      return {
        status: 'ok',
        outcome: { kind: 'granted', authorization: host.grantFor(me, grant).authorization },
      }
    }
    await refused('malformed', device.redeem(host.invite().code))
    expect((await device.whoami()).paired).toBeNull()
  })

  it('is needed before anything else', async () => {
    const device = await open()
    await refused('forbidden', device.workspaces())
    await refused('forbidden', device.create({ title: 'x', prompt: 'y', workspace: 'z' }))
  })
})

describe('asking', () => {
  it('gives the outcome, the host’s own refusal, or a timeout', async () => {
    const device = await openPaired()
    expect(await device.workspaces()).toEqual(['demo', 'site'])
    host.answer = () => ({ status: 'refused', code: 'missing_right', missing: 'operate' })
    expect((await refused('missing_right', device.workspaces())).missing).toBe('operate')
    host.answer = () => null
    await refused('timeout', device.workspaces())
  })

  it('looks for the workspace of a task that it does not know yet, and remembers it', async () => {
    const device = await openPaired(5_000)
    const item: TaskItem = {
      task,
      title: 'T',
      workspace: 'site',
      revision: 4,
      status: 'finished',
      phase: 'completed',
      attention: 'none',
      turn: 1,
      turn_start_revision: 1,
      updated_at: 1,
      steering: { native: 'unsupported', emulation: null },
      note: null,
      run_tasks: [],
    }
    host.answer = (heard): Result | null => {
      const { op } = heard.request
      if (op.kind === 'task.list') {
        const items = op.query.workspace === 'site' ? [item] : []
        return { status: 'ok', outcome: { kind: 'tasks', tasks: { items, next: null } } }
      }
      if (op.kind !== 'task.read') return usualAnswer(host, heard)
      const detail = {
        ...item,
        evidence: 'whole',
        cost_usd: null,
        cost_status: 'unknown',
        steps: [],
        next: null,
      }
      return { status: 'ok', outcome: { kind: 'task', task: detail } }
    }
    expect(await device.read(task)).toMatchObject({ revision: 4 })
    host.heard.length = 0
    await device.read(task)
    expect(host.heard.map(({ request }) => request.op.kind)).toEqual(['task.read'])
    await refused('not_found', device.read('0b'.repeat(32)))
  })
})

describe('a durable send', () => {
  it('is accepted, with an ID minted once and the revision just read', async () => {
    const device = await openPaired(5_000)
    const created = await device.create({ title: 'T', prompt: 'P', workspace: 'demo' })
    const { device: me } = await device.whoami()
    expect(created).toMatchObject({ state: 'accepted', kind: 'create', task: deviceTaskId(me, created.id) })
    const sent = await device.command({ task, action: 'queue', text: 'next' })
    expect(sent).toMatchObject({ state: 'accepted', kind: 'queue', task })
    expect(commandsHeard()).toEqual([
      expect.objectContaining({ command: sent.id, based_on: 7, text: 'next', emulate: false }),
    ])
    expect(await device.outbox()).toEqual([created, sent])
  })

  it('takes a given revision as it is, zero too', async () => {
    const device = await openPaired(5_000)
    await device.command({ task, action: 'queue', text: 'x', based_on: 0 })
    expect(commandsHeard()[0]?.based_on).toBe(0)
    expect(host.heard.some(({ request }) => request.op.kind === 'task.queue')).toBe(false)
  })

  it('ends refused only when the host says so', async () => {
    const device = await openPaired(5_000)
    host.answer = (heard) =>
      heard.request.op.kind === 'task.command'
        ? { status: 'refused', code: 'conflict', missing: null }
        : usualAnswer(host, heard)
    expect(await device.command({ task, action: 'send', text: 'x' })).toMatchObject({
      state: 'refused',
      code: 'conflict',
    })
  })

  it('of a task that the host will not show gets the host’s own refusal', async () => {
    const device = await openPaired(5_000)
    host.answer = () => ({ status: 'refused', code: 'forbidden', missing: null })
    expect(await device.command({ task, action: 'interrupt', text: 'x' })).toMatchObject({
      state: 'refused',
      code: 'forbidden',
    })
  })

  it('is unknown while nothing answers, never refused, and goes out again with the same command ID', async () => {
    const device = await openPaired()
    host.answer = () => null
    const sent = await device.command({ task, action: 'queue', text: 'x', based_on: 3 })
    expect(sent).toMatchObject({ state: 'unknown' })
    expect(await device.flush()).toEqual([expect.objectContaining({ id: sent.id, state: 'unknown' })])
    host.answer = (heard) => usualAnswer(host, heard)
    clock.advance(70_000)
    expect(await device.flush()).toEqual([expect.objectContaining({ id: sent.id, state: 'accepted' })])
    expect(new Set(commandsHeard().map((command) => JSON.stringify(command))).size).toBe(1)
  })

  it('is unknown when the relay is gone, and is delivered when it is back', async () => {
    const device = await openPaired()
    const { port } = relay
    await relay.close()
    const sent = await device.command({ task, action: 'queue', text: 'x' })
    expect(sent).toMatchObject({ state: 'unknown', why: expect.stringContaining('relay') })
    relay = await startRelay({ clock, random: systemRandom, host: '127.0.0.1', port, serves: () => null })
    host.close()
    host = answeringHost(relay.url, clock)
    await host.live
    expect(await (await open(5_000)).flush()).toEqual([
      expect.objectContaining({ id: sent.id, state: 'accepted' }),
    ])
    expect(commandsHeard()).toEqual([expect.objectContaining({ command: sent.id, based_on: 0 })])
  })

  it('hears the stored answer to what an earlier process sent, without a second event', async () => {
    const first = await openPaired(250)
    // The reply is on the relay, but this process is gone before it comes.
    let late: (() => void) | null = null
    const { send } = host
    host.send = (event) => {
      late = () => send(event)
    }
    const sent = await first.command({ task, action: 'queue', text: 'x', based_on: 1 })
    expect(sent.state).toBe('unknown')
    first.close()
    ;(late as (() => void) | null)?.()
    await expect.poll(() => relay.statistics().events).toBe(4)
    const second = await open(5_000)
    expect(await second.flush()).toEqual([expect.objectContaining({ id: sent.id, state: 'accepted' })])
    expect(commandsHeard()).toHaveLength(1)
  })

  it('keeps the order of the device, however long it was away', async () => {
    const device = await openPaired()
    host.answer = () => null
    const texts = Array.from({ length: 6 }, (_, index) => `message ${index}`)
    for (const text of texts) await device.command({ task, action: 'queue', text, based_on: 1 })
    expect((await device.outbox()).map(({ state }) => state)).toEqual(texts.map(() => 'unknown'))
    host.answer = (heard) => usualAnswer(host, heard)
    host.heard.length = 0
    clock.advance(20 * 60_000)
    await (await open(5_000)).flush()
    expect(commandsHeard().map(({ text }) => text)).toEqual(texts)
    // Signed when it was sent, but issued when it was given.
    for (const { event, request } of host.heard) {
      expect(Math.abs(event.created_at - clock.nowMs() / 1000)).toBeLessThan(5)
      if (request.op.kind !== 'task.command') continue
      expect(request.op.command.issued_at).toBeLessThan(event.created_at - 1_000)
    }
  })

  it('of a create keeps its request ID, and signs it again only when the first has surely expired', async () => {
    const device = await openPaired()
    host.answer = () => null
    const sent = await device.create({ title: 'T', prompt: 'P', workspace: 'demo' })
    host.answer = (heard) => usualAnswer(host, heard)
    clock.advance(61_000)
    expect(await device.flush()).toEqual([
      expect.objectContaining({ state: 'unknown', why: expect.stringContaining('asked again in') }),
    ])
    clock.advance(61_000)
    expect(await device.flush()).toEqual([expect.objectContaining({ id: sent.id, state: 'accepted' })])
    const creates = host.heard.filter(({ request }) => request.op.kind === 'task.create')
    expect(new Set(creates.map(({ request }) => request.request))).toEqual(new Set([sent.id]))
    expect(new Set(creates.map(({ event }) => event.id)).size).toBe(2)
  })

  it('that could never travel is refused before anything is kept', async () => {
    const device = await openPaired(5_000)
    await refused(
      'bounds',
      device.command({ task, action: 'queue', text: '\u0001'.repeat(16_000), based_on: 1 }),
    )
    await refused('bounds', device.command({ task, action: 'queue', text: ' ', based_on: 1 }))
    expect(await device.outbox()).toEqual([])
  })

  it('without any idea of the task is refused while the host is away, when it could hit another turn', async () => {
    const device = await openPaired()
    host.answer = () => null
    await refused('timeout', device.command({ task, action: 'interrupt', text: 'stop' }))
    expect(await device.outbox()).toEqual([])
    host.answer = (heard) => usualAnswer(host, heard)
    await device.queue(task, { action: 'list' })
    host.answer = () => null
    await device.command({ task, action: 'interrupt', text: 'stop' })
    host.answer = (heard) => usualAnswer(host, heard)
    clock.advance(70_000)
    await device.flush()
    expect(commandsHeard().at(-1)).toMatchObject({ action: 'interrupt', based_on: 7 })
  })

  it('from two processes at once is sent by one of them at a time, each once', async () => {
    await openPaired()
    const [one, two] = [await open(5_000), await open(5_000)]
    const sent = await Promise.all(
      [one, two, one, two].map((device, index) =>
        device.command({ task, action: 'queue', text: `m${index}`, based_on: 1 }),
      ),
    )
    expect(sent.map(({ state }) => state)).toEqual(Array(4).fill('accepted'))
    expect(commandsHeard()).toHaveLength(4)
  })
})

describe('a crash', () => {
  it('at any write loses nothing that was accepted for sending and doubles nothing', async () => {
    await openPaired()
    for (let cutAt = 1; ; cutAt += 1) {
      host.heard.length = 0
      const cut = cuttingDisk(cutAt)
      let finished = true
      try {
        const device = await open(5_000, cut)
        await device.command({ task, action: 'queue', text: `cut at ${cutAt}`, based_on: 1 })
      } catch {
        finished = false
      }
      const after = await open(5_000)
      const standing = await after.flush()
      expect(standing.every(({ state }) => state === 'accepted')).toBe(true)
      const heard = commandsHeard()
      expect(new Set(heard.map(({ command }) => command)).size).toBeLessThanOrEqual(1)
      for (const { command } of heard) expect(standing.map(({ id }) => id)).toContain(command)
      if (finished) {
        expect(cutAt).toBeGreaterThan(3)
        return
      }
    }
  })
})

describe('clocks that disagree', () => {
  it.each([
    [61, '6[12] seconds behind'],
    [600, '10 minutes behind'],
    [86_400, '24 hours behind'],
    [-61, '6[12] seconds ahead of'],
    [-600, '10 minutes ahead of'],
    [-86_400, '24 hours ahead of'],
  ])('by %i seconds are named in words when the host shows itself', async (aheadSeconds, words) => {
    const device = await openPaired()
    const { device: me } = await device.whoami()
    host.aheadSeconds = aheadSeconds
    const asking = device.command({ task, action: 'queue', text: 'x', based_on: 1 })
    await expect.poll(() => commandsHeard().length).toBe(1)
    host.publishPresence(me)
    expect(await asking).toMatchObject({ state: 'unknown', why: expect.stringMatching(words) })
  })

  it('say so from a stored presence alone, as far as it can tell', async () => {
    const device = await openPaired()
    const { device: me } = await device.whoami()
    host.aheadSeconds = 600
    host.publishPresence(me)
    await expect.poll(() => relay.statistics().events).toBe(3)
    expect(await device.command({ task, action: 'queue', text: 'x', based_on: 1 })).toMatchObject({
      why: expect.stringContaining('10 minutes behind'),
    })
    host.aheadSeconds = -600
    host.publishPresence(me, 2)
    await expect.poll(() => relay.statistics().events).toBe(5)
    expect((await (await open()).flush())[0]).toMatchObject({
      why: expect.stringContaining('10 minutes ago'),
    })
  })

  it.each([-55, 55])('by %i seconds do not matter', async (aheadSeconds) => {
    const device = await openPaired(5_000)
    host.aheadSeconds = aheadSeconds
    const sent = await device.command({ task, action: 'queue', text: 'x', based_on: 1 })
    expect(sent.state).toBe('accepted')
  })

  it.each([
    [90, 'stale', 'behind'],
    [-301, 'expired', 'ahead'],
  ] as const)('by %i seconds are found at the invitation', async (aheadSeconds, code, word) => {
    host.aheadSeconds = aheadSeconds
    const refusal = await refused(code, (await open()).redeem(host.invite().code))
    expect(refusal.message).toContain(word)
    expect(host.heard).toEqual([])
  })
})

describe('a renewed grant', () => {
  it('is taken when its terms are the same, and only then', async () => {
    const device = await openPaired(5_000)
    const { device: me, paired } = await device.whoami()
    await device.workspaces()
    const wider = host.grantFor(me, { rights: ['observe', 'operate', 'access_admin'] })
    host.publish(wider.authorization)
    const renewed = host.grantFor(me, { expires_at: Math.floor(clock.nowMs() / 1000) + 90_000 })
    host.publish(renewed.authorization)
    await expect.poll(async () => (await device.whoami()).paired?.grant).toBe(renewed.grant.grant)
    expect((await device.whoami()).paired).toMatchObject({ epoch: paired?.epoch, rights: paired?.rights })
    await device.workspaces()
    expect(host.heard.at(-1)?.request.grant).toBe(renewed.grant.grant)
    await expect.poll(async () => (await (await open()).whoami()).paired?.grant).toBe(renewed.grant.grant)
  })
})

/** A disk whose power goes out at the given durable write, and stays out. */
function cuttingDisk(cutAt: number): Disk {
  let writes = 0
  const powered = <A extends unknown[], R>(write: (...args: A) => Promise<R>) => {
    return (...args: A): Promise<R> => {
      writes += 1
      return writes >= cutAt ? Promise.reject(new Error('power cut')) : write(...args)
    }
  }
  return { ...realDisk, replace: powered(realDisk.replace), create: powered(realDisk.create) }
}
