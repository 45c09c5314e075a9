import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Result } from '../../src/protocol/bodies/reply.ts'
import { encodeInvitation } from '../../src/protocol/invitation.ts'
import { usualAnswer } from '../support/answering-host.ts'
import { testKey } from '../support/keys.ts'
import { refused } from '../support/refusals.ts'
import { clock, dir, host, open, openPaired, relay, task } from './device-stage.ts'
import { item } from './outcome-rows.ts'

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
    const device = await openPaired(5_000)
    expect(await device.workspaces()).toEqual(['demo', 'site'])
    host.answer = () => ({ status: 'refused', code: 'missing_right', missing: 'operate' })
    expect((await refused('missing_right', device.workspaces())).missing).toBe('operate')
    host.answer = () => null
    await refused('timeout', (await open()).workspaces())
  })

  it('looks for the workspace of a task that it does not know yet, and remembers it', async () => {
    const device = await openPaired(5_000)
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
