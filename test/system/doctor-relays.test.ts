import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place } from '../support/door.ts'
import { type ScriptedRelay, scriptedRelay } from '../support/scripted-relay.ts'

let place: Place
let relay: ScriptedRelay

beforeEach(async () => {
  relay = await scriptedRelay((connection) => {
    connection.say('AUTH', 'doctor')
    void connection.takeAuth('doctor').then(() => connection.serve())
  })
  place = await makePlace()
  const url = ['--loopback-test', '--relay', relay.url]
  await place.ask(['init', '--create-owner', ...url])
})
afterEach(async () => {
  await place.leave()
  await relay.close()
})

async function ofRelays() {
  const ended = await place.run(['doctor', '--json'])
  const { ok, checks } = JSON.parse(ended.stdout)
  expect(ended.code).toBe(ok ? 0 : 1)
  const found = (checks as { name: string; ok: boolean; detail: string; fix: string | null }[]).filter(
    ({ name }) => name.startsWith('relay '),
  )
  return found.map(({ name, ...rest }) => ({ name: name.replace(relay.url, 'R'), ...rest }))
}

describe('doctor, of the relays in the settings', () => {
  it('says that one is live, knows the host, what it takes and what time it has', async () => {
    relay.information = (_, response) => void response.end('{"limitation":{"max_message_length":20000}}')
    expect(await ofRelays()).toMatchObject([
      { name: 'relay R', ok: true, detail: 'live', fix: null },
      { name: 'relay R, who reads', ok: true },
      { name: 'relay R, limits', ok: true, detail: expect.stringContaining('events up to 19990 bytes') },
      { name: 'relay R, clock', ok: true },
    ])
  })

  it('names each that cannot be used and what to do, and looks at the others all the same', async () => {
    await place.ask(['relay', 'add', 'ws://127.0.0.1:1/'])
    const found = await ofRelays()
    expect(found.filter(({ ok }) => !ok)).toEqual([
      {
        name: 'relay ws://127.0.0.1:1/',
        ok: false,
        detail: expect.stringContaining('ECONNREFUSED'),
        fix: expect.stringContaining("drawbridge relay remove 'ws://127.0.0.1:1/'"),
      },
    ])
    expect(found.find(({ name }) => name === 'relay R')?.ok).toBe(true)
  })

  it('says what to have changed at one that takes too little', async () => {
    relay.information = (_, response) => void response.end('{"limitation":{"max_message_length":4000}}')
    const failed = (await ofRelays()).filter(({ ok }) => !ok)
    expect(failed).toMatchObject([
      { name: 'relay R, limits', fix: 'have it take messages of 50176 bytes, or use another relay' },
    ])
  })
})
