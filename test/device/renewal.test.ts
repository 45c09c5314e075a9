import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mayBeRenewed, renewalWindows, withSpoken } from '../../src/device/renewal-search.ts'
import { grantsAsked, spokenWindowsMax } from '../../src/limits.ts'
import type { Grant } from '../../src/protocol/bodies/grant.ts'
import { realDisk } from '../../src/store/disk.ts'
import { testKey } from '../support/keys.ts'
import { until } from '../support/until.ts'
import { clock, dir, host, open, openPaired, relay } from './device-stage.ts'

const day = 86_400
const nowSeconds = () => Math.floor(clock.nowMs() / 1000)
const savedGrant = async () => JSON.parse(await readFile(join(dir, 'access.json'), 'utf8')).grant.grant

/** A renewal of the grant that the device has, on its way. */
function renew(device: string, changes: Partial<Grant> = {}): Grant {
  const { grant, authorization } = host.grantFor(device, { expires_at: nowSeconds() + 2 * day, ...changes })
  host.publish(authorization)
  return grant
}

describe('a renewed grant', () => {
  it.each<[string, (held: Grant) => Partial<Grant>]>([
    ['the owner', () => ({ owner: testKey(20).publicKey })],
    ['the relay', () => ({ relay: 'wss://other.example.net/' })],
    ['more rights', () => ({ rights: ['observe', 'operate', 'access_admin'] })],
    ['fewer rights', () => ({ rights: ['observe'] })],
    ['the epoch', () => ({ epoch: 1 })],
    ['the origin', ({ origin }) => ({ origin: { ...origin, id: '3c'.repeat(32) } })],
    ['its ID', ({ grant }) => ({ grant })],
    ['an earlier issue', ({ issued_at }) => ({ issued_at: issued_at - 1 })],
    ['no later expiry', ({ expires_at }) => ({ expires_at })],
  ])('that differs in %s is not taken, and the right one after it is', async (_, changes) => {
    const device = await openPaired(5_000)
    const { device: me, paired } = await device.whoami()
    const { grant, issued_at, expires_at } = paired ?? host.grantFor(me).grant
    const held = host.grantFor(me, { grant, issued_at, expires_at }).grant
    await device.workspaces()
    renew(me, changes(held))
    const right = renew(me)
    await expect.poll(async () => (await device.whoami()).paired?.grant).toBe(right.grant)
    await expect.poll(savedGrant).toBe(right.grant)
  })

  it('is on the disk before a request names it', async () => {
    await openPaired()
    let saves = 0
    let release: () => void = () => {}
    const slow = {
      ...realDisk,
      replace: async (...args: Parameters<typeof realDisk.replace>) => {
        if (args[0].endsWith('access.json')) {
          saves += 1
          await new Promise<void>((resolve) => {
            release = resolve
          })
        }
        return realDisk.replace(...args)
      },
    }
    const device = await open(5_000, slow)
    const { device: me, paired } = await device.whoami()
    await device.workspaces()
    const renewed = renew(me)
    await expect.poll(() => saves).toBe(1)
    expect((await savedGrant()) === paired?.grant).toBe(true)
    host.heard.length = 0
    const asking = device.workspaces()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(host.heard).toEqual([])
    release()
    await asking
    expect(host.heard[0]?.request.grant).toBe(renewed.grant)
    expect(await savedGrant()).toBe(renewed.grant)
  })

  it('that cannot be saved is not used: the old one is still good', async () => {
    await openPaired()
    const full = {
      ...realDisk,
      replace: (...args: Parameters<typeof realDisk.replace>) =>
        args[0].endsWith('access.json') ? Promise.reject(new Error('full')) : realDisk.replace(...args),
    }
    const device = await open(5_000, full)
    const { device: me, paired } = await device.whoami()
    await device.workspaces()
    const renewed = renew(me)
    await expect.poll(() => relay.statistics().events).toBe(5)
    await device.workspaces()
    expect(host.heard.at(-1)?.request.grant).toBe(paired?.grant)
    expect(renewed.grant).not.toBe(paired?.grant)
  })

  it('of two processes of one directory is not undone by the slower one', async () => {
    const first = await openPaired(5_000)
    const second = await open(5_000)
    const { device: me } = await first.whoami()
    await first.workspaces()
    const older = renew(me)
    await expect.poll(savedGrant).toBe(older.grant)
    clock.advance(2_000)
    const newer = renew(me)
    await expect.poll(savedGrant).toBe(newer.grant)
    // It comes to the second one now, newest first, which knows only the grant before both.
    await second.workspaces()
    expect(await savedGrant()).toBe(newer.grant)
    expect(host.heard.at(-1)?.request.grant).toBe(newer.grant)
  })

  it('of another process is used without having been heard', async () => {
    const first = await openPaired(5_000)
    const { device: me } = await first.whoami()
    const second = await open(5_000)
    await first.workspaces()
    const renewed = renew(me)
    await expect.poll(savedGrant).toBe(renewed.grant)
    expect((await second.whoami()).paired?.grant).toBe(renewed.grant)
  })

  it('does not undo a new pairing of another process', async () => {
    const first = await openPaired(5_000)
    const { device: me, paired } = await first.whoami()
    await first.workspaces()
    const origin = host.grantFor(me).grant.origin
    const again = await (await open(5_000)).redeem(host.invite().code)
    const late = host.grantFor(me, { origin, expires_at: nowSeconds() + 2 * day })
    host.publish(late.authorization)
    await first.workspaces()
    expect(again.paired?.grant).not.toBe(paired?.grant)
    expect(await savedGrant()).toBe(again.paired?.grant)
  })
})

describe('a device that was away', () => {
  it('finds the renewal that the relay holds behind days of other events', async () => {
    const device = await openPaired(5_000)
    const { device: me } = await device.whoami()
    clock.advance(0.8 * day * 1000)
    // The device was gone before the renewal came.
    await device.workspaces()
    device.close()
    clock.advance(20_000)
    const renewed = renew(me)
    for (let minute = 0; minute < grantsAsked + 5; minute += 1) {
      clock.advance(60_000)
      host.publishPresence(me)
    }
    await until(() => relay.statistics().events > grantsAsked + 5)
    clock.advance(5 * 3_600_000)
    const back = await open(5_000)
    await back.workspaces()
    expect(host.heard.at(-1)?.request.grant).toBe(renewed.grant)
    expect((await back.whoami()).paired?.grant).toBe(renewed.grant)
  })

  it('looks for it without notes too, among the newest', async () => {
    const device = await openPaired(5_000)
    const { device: me } = await device.whoami()
    clock.advance(0.8 * day * 1000)
    const renewed = renew(me)
    for (let index = 0; index < grantsAsked - 5; index += 1) host.publishPresence(me, index + 1)
    await until(() => relay.statistics().events === grantsAsked - 2)
    clock.advance(day * 1000)
    const back = await open(5_000)
    await back.workspaces()
    expect(host.heard.at(-1)?.request.grant).toBe(renewed.grant)
  })
})

describe('where a stored renewal can be', () => {
  const grant: Grant = {
    ...hostGrant(),
    issued_at: 1_000_000,
    expires_at: 1_000_000 + 30 * day,
  }
  const from = grant.expires_at - (30 * day) / 4

  it('is nowhere before the last quarter of the grant, by any clock that the host could have', () => {
    expect(mayBeRenewed(grant, from - 61)).toBe(false)
    expect(renewalWindows(grant, [], from - 61)).toEqual([])
    expect(mayBeRenewed(grant, from - 60)).toBe(true)
  })

  it('is around the times at which the device spoke', () => {
    const windows = renewalWindows(grant, [from + 5, from + 90_000], from + 7 * day)
    expect(windows.map(({ since, until }) => [since, until])).toEqual([
      [from - 115, from + 125],
      [from + 89_880, from + 90_120],
    ])
  })

  it('is anywhere in the last quarter while those are not known', () => {
    expect(renewalWindows(grant, [], from)).toMatchObject([
      { since: from - 60, until: grant.expires_at + 60 },
    ])
  })

  it('is remembered by the first time and the last ones, however often the device speaks', () => {
    let spoken: number[] = []
    for (let at = from; at < from + 10_000; at += 7) spoken = withSpoken(spoken, at) ?? spoken
    expect(spoken).toHaveLength(spokenWindowsMax)
    expect(spoken[0]).toBe(from)
    expect(spoken.at(-1)).toBeGreaterThan(from + 10_000 - 70)
    expect(withSpoken([from], from + 59)).toBeNull()
  })
})

function hostGrant(): Grant {
  return {
    v: 'openagents.host-grant.v1',
    requires: [],
    grant: '1a'.repeat(32),
    host: testKey(11).publicKey,
    owner: testKey(12).publicKey,
    device: testKey(13).publicKey,
    relay: 'wss://relay.example.net/',
    rights: ['observe'],
    epoch: 0,
    origin: { kind: 'invitation', id: '2b'.repeat(32), issuer: testKey(11).publicKey },
    issued_at: 100,
    expires_at: 200,
  }
}
