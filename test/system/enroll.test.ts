import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { npubEncode } from 'nostr-tools/nip19'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Bunker, startBunker } from '../support/bunker.ts'
import { type Ended, makePlace, type Place } from '../support/door.ts'
import { testKey } from '../support/keys.ts'
import { type ForeignRelay, nostrRelay } from '../support/nostr-relay.ts'

let place: Place
let signerRelay: ForeignRelay
let bunker: Bunker
/** The host and the relay that its service brought along. */
let host: string
let relay: string
/** Everything that any command said. */
let said: string

beforeEach(async () => {
  said = ''
  place = await makePlace()
  signerRelay = await nostrRelay()
  bunker = await startBunker(signerRelay.url)
  const home = ['--workspace', `demo=${place.workspace}`, '--loopback-test']
  const made = await place.ask(['init', '--owner', npubEncode(bunker.user), ...home])
  expect(made).toMatchObject({ owner: bunker.user })
  const serve = ['serve', '--embedded-relay', '127.0.0.1:0', '--loopback-test', '--json']
  const service = place.start([...serve, '--log-level', 'debug'])
  service.ended.then(({ stdout, stderr }) => {
    said += stdout + stderr
  })
  const ready = JSON.parse(await service.firstLine)
  host = ready.host
  relay = ready.relays[0].url
})
afterEach(async () => {
  await place.leave()
  expect(said).not.toContain(bunker.secret)
  expect(said).not.toMatch(/bunker:\/\/[0-9a-f]/)
  bunker.close()
  await signerRelay.close()
})

describe('a device that is let in from afar', () => {
  it('is approved by an owner whose key the host never had, and makes a task', async () => {
    expect(await readdir(join(place.home, 'host'))).not.toContain('owner.key')
    const device = await deviceKey()
    const asked = await place.ask(['enroll', 'request'])
    expect(asked).toMatchObject({ host, relay, devices: 0 })

    const approved = told(await asOwner(['enroll', 'approve', ...naming(asked.code, device)]))
    expect(approved).toMatchObject({ host, device, relay, enrollment: asked.enrollment, saved: false })
    expect(approved.rights).toEqual(['observe', 'operate', 'terminal', 'review'])

    const paired = await place.onDevice(['device', 'accept', '--host', host, '--relay', relay])
    expect(paired).toMatchObject({ device, host, owner: bunker.user, relay, grant: approved.grant })
    expect((await stat(join(place.device, 'access.json'))).mode & 0o777).toBe(0o600)
    const create = ['--workspace', 'demo', '--title', 'Lower it', '--prompt', 'Lower the bridge.']
    const { task, state } = await place.onDevice(['device', 'create', ...create])
    expect(state).toBe('accepted')

    // The owner asks over the relay too: what there is, one more task, and the end of the grant.
    expect(told(await asOwner(['device', 'tasks', ...there()])).tasks).toMatchObject([
      { task, phase: 'queued' },
    ])
    expect(told(await asOwner(['device', 'read', task, ...there()]))).toMatchObject({ title: 'Lower it' })
    const own = told(await asOwner(['device', 'create', ...create, ...there()]))
    expect(own).toMatchObject({ kind: 'create', state: 'accepted' })
    expect(told(await asOwner(['device', 'queue', own.task, 'Then raise it.', ...there()]))).toMatchObject({
      state: 'accepted',
    })
    expect(told(await asOwner(['device', 'outbox', ...there()])).sends).toHaveLength(2)
    expect(told(await asOwner(['device', 'list', ...there()])).devices).toMatchObject([
      { device, state: 'active', origin: 'approval' },
    ])
    expect(told(await asOwner(['device', 'revoke', '--device', device, ...there()])).epoch).toBe(1)
    const after = await onDevice(['device', 'tasks'])
    expect([after.code, after.stderr]).toEqual([1, expect.stringContaining('"revoked"')])

    // The signer was asked to let one client in, once.
    expect(bunker.asked('connect')).toBe(1)
    expect(new Set(bunker.requests.map(({ client }) => client)).size).toBe(1)
  }, 120_000)

  it('is approved with a key file on its own computer, and saves its grant at once', async () => {
    await writeFile(join(place.base, 'owner.key'), `${testKey(12).secret}\n`, { mode: 0o600 })
    const device = await deviceKey()
    const { code } = await place.ask(['enroll', 'request', '--rights', 'pairing'])
    const words = ['enroll', 'approve', ...naming('-', device), '--owner-key-file', 'owner.key']
    const approved = await place.onDevice([...words, '--rights', 'admin'], {
      input: `${code.toLowerCase()}\n`,
    })
    expect(approved).toMatchObject({ device, saved: true, rights: ['access_read', 'access_admin'] })
    expect(await place.onDevice(['device', 'whoami'])).toMatchObject({ paired: true, grant: approved.grant })

    // That device administers access from now on: it is asked too, and approves another.
    const second = await place.ask(['enroll', 'request', '--rights', 'admin'])
    expect(second.devices).toBe(1)
    const other = join(place.base, 'other')
    const otherKey = (await place.ask(['device', 'whoami', '--state', other])).device
    const out = join(place.base, 'grant.json')
    const given = await place.onDevice(['enroll', 'approve', ...naming(second.code, otherKey), '--out', out])
    expect(given).toMatchObject({ device: otherKey, saved: false, file: out })
    expect((await stat(out)).mode & 0o777).toBe(0o600)
    const wrong = await place.run(['device', 'accept', out, ...there(), '--state', join(place.base, 'third')])
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('(malformed)')])
    const accept = ['device', 'accept', out, ...there(), '--state', other]
    expect(await place.ask(accept)).toMatchObject({ paired: true, grant: given.grant, device: otherKey })
    expect(await place.ask(accept)).toMatchObject({ grant: given.grant })

    // It invites, lists and revokes over the relay as well, within its rights.
    const invited = await place.onDevice(['device', 'invite', '--rights', 'access_read', '--no-qr'])
    await place.onDevice(['device', 'invite', 'cancel', invited.invitation])
    const over = await onDevice(['device', 'invite', '--rights', 'operate'])
    expect([over.code, over.stderr]).toEqual([1, expect.stringContaining('"missing_right"')])
    expect((await place.onDevice(['device', 'list'])).devices).toHaveLength(2)
    expect(await place.onDevice(['device', 'revoke', '--device', otherKey])).toMatchObject({ epoch: 1 })
  }, 120_000)
})

describe('an approval that does not come off', () => {
  it('says that there is nothing to approve', async () => {
    await refused(
      ['enroll', 'approve', ...naming('ABCD-EFGH', await deviceKey())],
      'not_found',
      'enroll request',
    )
    await refused(['enroll', 'deny', ...there()], 'not_found', 'enroll request')
  })

  it('is closed by the fifth wrong code, and by a denial', async () => {
    const device = await deviceKey()
    const { code } = await place.ask(['enroll', 'request'])
    const other = code === 'ABCD-EFGH' ? 'ABCD-EFGJ' : 'ABCD-EFGH'
    // What no code can be is not one of the five.
    await refused(['enroll', 'approve', ...naming('ABC', device)], 'wrong_code', 'eight letters')
    for (let tries = 1; tries <= 5; tries += 1) {
      await refused(['enroll', 'approve', ...naming(other, device)], 'wrong_code', 'after five wrong ones')
    }
    await refused(
      ['enroll', 'approve', ...naming(code, device)],
      'rate_limited',
      'five wrong codes closed it',
    )

    const next = await place.ask(['enroll', 'request'])
    const named = ['--enrollment', next.enrollment]
    await refused(['enroll', 'approve', ...naming(next.code, device)], 'conflict', '--enrollment ID')
    await refused(['enroll', 'deny', ...there()], 'conflict', next.enrollment)
    const denied = await asOwner(['enroll', 'deny', ...there(), ...named])
    expect(told(denied)).toEqual({ enrollment: next.enrollment, denied: true })
    await refused(['enroll', 'approve', ...naming(next.code, device), ...named], 'denied', 'ask anew')
  }, 120_000)

  it('is that of the signer: who says no, signs something else, or nothing that can be read', async () => {
    const device = await deviceKey()
    const { code } = await place.ask(['enroll', 'request'])
    const approve = ['enroll', 'approve', ...naming(code, device)]
    await refused(approve, 'denied', 'the remote signer refused connect: this secret lets nobody in', [
      bunker.url.replace(bunker.secret, 'guessed'),
    ])
    bunker.answer = (request) =>
      request.method === 'nip44_encrypt' ? { error: `no, by ${bunker.secret}` } : bunker.usual(request)
    await refused(approve, 'denied', 'the remote signer refused nip44_encrypt: no, by …')
    bunker.answer = (request) => {
      if (request.method !== 'sign_event' || !request.params[0]?.includes('"kind":3188')) {
        return bunker.usual(request)
      }
      const template = JSON.parse(request.params[0])
      return {
        result: JSON.stringify(bunker.signAsUser({ ...template, created_at: template.created_at - 1 })),
      }
    }
    await refused(approve, 'malformed', 'signed something else')
    bunker.answer = (request) => (request.method === 'nip44_decrypt' ? 'garbage' : bunker.usual(request))
    await refused(approve, 'malformed', 'cannot be read')
    expect((await place.ask(['devices'])).devices).toEqual([])
    bunker.answer = bunker.usual
    expect(told(await asOwner(approve))).toMatchObject({ device })
  }, 120_000)

  it('never shows the address of the signer, however it was given', async () => {
    const words = ['device', 'list', ...there()]
    const broken = bunker.url.replace('bunker://', 'bunker:/')
    await refused(words, 'malformed', 'not the address of a remote signer', [broken])
    const asArgument = (...given: string[]) =>
      place.run([...words, ...given.flatMap((one) => ['--owner-signer', one]), '--loopback-test'])
    for (const one of [bunker.url, broken, bunker.url.toUpperCase(), bunker.url.slice(12)]) {
      const ended = await heard(asArgument(one))
      expect(ended.stderr).toContain('other users of this computer can see')
    }
    expect((await heard(asArgument(bunker.url))).code).toBe(0)
    expect((await heard(asArgument(bunker.url, bunker.url))).code).toBe(64)
    expect((await heard(place.run([...words, `--owner-singer=${bunker.url}`]))).code).toBe(64)
    expect((await heard(place.run([...words, bunker.url]))).code).toBe(64)
    const both = ['--owner-key-file', 'none', '--owner-signer', '-']
    expect((await heard(place.run([...words, ...both], { input: bunker.url }))).stderr).toContain('one key')
    await writeFile(join(place.base, 'bunker.txt'), `${bunker.url}\n`)
    const fromFile = await heard(place.run([...words, '--owner-signer', 'bunker.txt', '--loopback-test']))
    expect([fromFile.code, fromFile.stderr]).toEqual([0, ''])
    for (const file of await readdir(place.home, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue
      expect(await readFile(join(file.parentPath, file.name), 'latin1'), file.name).not.toContain(
        bunker.secret,
      )
    }
  }, 120_000)
})

/** The words for a place: the host and its relay. */
function there(): string[] {
  return ['--host', host, '--relay', relay, '--loopback-test']
}

function naming(code: string, device: string): string[] {
  return [...there(), '--code', code, '--device', device]
}

async function deviceKey(): Promise<string> {
  return (await place.onDevice(['device', 'whoami'])).device
}

/** Gives a command as the owner, whose signer's address comes over standard input. */
function asOwner(words: readonly string[], address = bunker.url): Promise<Ended> {
  const owner = ['--owner-signer', '-', '--state', join(place.base, 'owner'), '--json']
  const once = words.includes('--loopback-test') ? [] : ['--loopback-test']
  return heard(place.run([...words, ...owner, ...once], { input: `${address}\n` }))
}

function onDevice(words: readonly string[]): Promise<Ended> {
  return heard(place.run([...words, '--state', place.device, '--loopback-test', '--json']))
}

async function heard(running: Promise<Ended>): Promise<Ended> {
  const ended = await running
  said += ended.stdout + ended.stderr
  return ended
}

// biome-ignore lint/suspicious/noExplicitAny: output of the product, looked at by name
function told({ code, stdout, stderr }: Ended): any {
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

async function refused(
  words: readonly string[],
  code: string,
  words2: string,
  [address]: string[] = [],
): Promise<void> {
  const ended = await asOwner(words, address)
  expect([ended.code, ended.stdout]).toEqual([1, ''])
  const { error } = JSON.parse(ended.stderr)
  expect([error.code, error.message]).toEqual([code, expect.stringContaining(words2)])
}
