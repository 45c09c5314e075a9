import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { promised } from '../../src/device/promised.ts'
import type { Grant } from '../../src/protocol/bodies/grant.ts'
import type { DialRelay } from '../../src/seams/relay-socket.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { realDisk } from '../../src/store/disk.ts'
import { testKey } from '../support/keys.ts'
import { refused } from '../support/refusals.ts'
import { clock, comeBack, dir, host, open, openPaired, relay } from './device-stage.ts'

const enrollment = '4e'.repeat(32)
const approval = { kind: 'approval' as const, id: enrollment, issuer: testKey(12).publicKey }

const wanted = (more: { relay?: string; enrollment?: string } = {}) => {
  return { host: host.key.publicKey, relay: relay.url, ...more }
}

async function granted(changes: Partial<Grant> = {}) {
  const device = await open()
  const { device: key } = await device.whoami()
  return { device, ...host.grantFor(key, { origin: approval, ...changes }) }
}

const saved = async (): Promise<string> => {
  return JSON.parse(await readFile(join(dir, 'access.json'), 'utf8')).grant.grant
}

describe('a device that was approved', () => {
  it('takes the grant that the host signed to it, and has it on disk when it says so', async () => {
    const { device, grant, authorization } = await granted()
    const paired = await device.accept(wanted({ enrollment }), authorization, 0)
    expect(paired.paired).toMatchObject({ grant: grant.grant, host: host.key.publicKey, relay: relay.url })
    expect(await saved()).toBe(grant.grant)
    expect((await (await open()).whoami()).paired?.grant).toBe(grant.grant)
    expect(await device.workspaces()).toEqual(['demo', 'site'])
    expect(host.heard.at(-1)?.request).toMatchObject({ grant: grant.grant, epoch: 0 })
    // Again is no change.
    expect((await device.accept(wanted(), authorization, 0)).paired?.grant).toBe(grant.grant)
  })

  it('says nothing before it is on disk', async () => {
    const { authorization } = await granted()
    const full = { ...realDisk, replace: () => Promise.reject(new Error('no space left')) }
    const device = await open(250, full)
    await expect(device.accept(wanted(), authorization, 0)).rejects.toThrow('no space left')
    expect((await (await open()).whoami()).paired).toBeNull()
  })

  it('waits for the grant that the host publishes to it, and is deaf to all others', async () => {
    const { device, grant, authorization } = await granted()
    const waiting = device.accept(wanted({ enrollment }), null, 20_000)
    const { device: self } = await device.whoami()
    host.publish(host.grantFor(self).authorization)
    host.publish(host.grantFor(self, { origin: { ...approval, id: '5e'.repeat(32) } }).authorization)
    host.publish(host.grantFor(testKey(33).publicKey, { origin: approval }).authorization)
    host.publishPresence(self)
    host.publish(authorization)
    expect((await waiting).paired?.grant).toBe(grant.grant)
  })

  it('finds the grant that was published before it came, the newest if there are more', async () => {
    const { device, authorization } = await granted({ issued_at: Math.floor(clock.nowMs() / 1000) - 30 })
    const newer = await granted()
    host.publish(newer.authorization)
    host.publish(authorization)
    expect((await device.accept(wanted(), null, 20_000)).paired?.grant).toBe(newer.grant.grant)
  })

  it('goes on waiting over a relay that went away and came back', async () => {
    const { grant, authorization } = await granted()
    const connected = promised<void>()
    const dial: DialRelay = (url, events) =>
      dialRelay(url, {
        ...events,
        message(text) {
          events.message(text)
          if (text.startsWith('["EOSE"')) connected.resolve()
        },
      })
    const waiting = (await open(250, realDisk, { dial })).accept(wanted(), null, 20_000)
    await connected.promise
    await relay.close()
    await comeBack()
    host.publish(authorization)
    expect((await waiting).paired?.grant).toBe(grant.grant)
  })

  it('gives up when none comes, and says what to do with its key', async () => {
    const device = await open()
    const { hint } = await refused('timeout', device.accept(wanted(), null, 400))
    expect(hint).toContain(`--device ${(await device.whoami()).device}`)
    await expect(access(join(dir, 'access.json'))).rejects.toThrow()
  })

  it.each<[string, Partial<Grant>, string]>([
    ['of an invitation', { origin: { ...approval, kind: 'invitation' } }, 'malformed'],
    ['of another enrollment', { origin: { ...approval, id: '5e'.repeat(32) } }, 'malformed'],
    ['of another host', { host: testKey(33).publicKey }, 'malformed'],
    ['for another device', { device: testKey(33).publicKey }, 'malformed'],
    ['for another relay', { relay: 'ws://127.0.0.1:1' }, 'malformed'],
    ['that is over', { issued_at: 1_700_000_000, expires_at: 1_700_000_600 }, 'expired'],
  ])('does not take a grant %s', async (_, changes, code) => {
    const { device, authorization } = await granted(changes)
    await refused(code as 'malformed', device.accept(wanted({ enrollment }), authorization, 0))
    expect((await device.whoami()).paired).toBeNull()
  })

  it('does not take a grant that another key than the host signed', async () => {
    const { device, authorization } = await granted()
    const other = { ...wanted(), host: testKey(33).publicKey }
    await refused('malformed', device.accept(other, authorization, 0))
    await refused('malformed', device.accept(wanted(), { ...authorization, sig: '0'.repeat(128) }, 0))
    await refused('forbidden', device.accept(wanted({ relay: 'http://127.0.0.1' }), authorization, 0))
  })

  it('does not go back to an older grant, nor to another host', async () => {
    const device = await openPaired()
    const { device: self } = await device.whoami()
    const before = Math.floor(clock.nowMs() / 1000) - 10
    const older = host.grantFor(self, { origin: approval, issued_at: before })
    await refused('stale', device.accept(wanted(), older.authorization, 0))
    const next = host.grantFor(self, { origin: approval, epoch: 1 })
    expect((await device.accept(wanted(), next.authorization, 0)).paired).toMatchObject({ epoch: 1 })
    await refused(
      'stale',
      device.accept(wanted(), host.grantFor(self, { origin: approval }).authorization, 0),
    )

    const record = JSON.parse(await readFile(join(dir, 'access.json'), 'utf8'))
    const elsewhere = { ...record, grant: { ...record.grant, host: testKey(33).publicKey } }
    await writeFile(join(dir, 'access.json'), JSON.stringify(elsewhere), { mode: 0o600 })
    await refused('conflict', (await open()).accept(wanted(), next.authorization, 0))
  })
})
