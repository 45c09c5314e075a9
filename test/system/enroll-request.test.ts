import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place } from '../support/door.ts'

let place: Place
let url: string
beforeEach(async () => {
  place = await makePlace()
  const relay = place.start(['relay', '--listen', '127.0.0.1:0', '--json'])
  url = JSON.parse(await relay.firstLine).url
  await place.ask(['init', '--create-owner', '--relay', url, '--loopback-test'])
})
afterEach(() => place.leave())

describe('asking for a device from the host', () => {
  it('shows a code that is nowhere else, with what the approver needs', async () => {
    const service = place.start(['serve', '--loopback-test', '--json', '--log-level', 'debug'])
    await service.firstLine
    const made = await place.ask(['enroll', 'request', '--rights', 'operate,observe'])
    expect(made).toMatchObject({
      code: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/),
      enrollment: expect.stringMatching(/^[0-9a-f]{64}$/),
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      rights: ['observe', 'operate'],
      relay: url,
      devices: 0,
    })
    const shown = await place.run(['enroll', 'request'])
    const [code] = shown.stdout.split('\n')
    expect(shown.stdout).toContain('the owner\n')
    expect(shown.stdout).toContain(
      `drawbridge enroll approve --host ${made.host} --relay '${url}' --code ${code} --device KEY`,
    )
    expect(shown.stdout).toContain('observe, operate, terminal, review')

    const book = await readFile(join(place.home, 'host', 'access.json'), 'utf8')
    const { stdout, stderr } = await service.stop()
    for (const text of [book, stdout, stderr]) {
      for (const secret of [made.code, made.code.replace('-', ''), code ?? '']) {
        expect(text).not.toContain(secret)
      }
    }
  })

  it('needs the service, and says what to type', async () => {
    const refused = await place.run(['enroll', 'request', '--json'])
    expect(refused.code).toBe(69)
    const { error } = JSON.parse(refused.stderr)
    expect(error.code).toBe('not_running')
    expect(error.message).toContain('drawbridge serve')
  })

  it('refuses rights that are none, and a relay that the host does not serve', async () => {
    const service = place.start(['serve', '--loopback-test', '--json', '--log-level', 'silent'])
    await service.firstLine
    const codeOf = async (...args: string[]) => {
      const { stderr } = await place.run(['enroll', 'request', ...args, '--json'])
      return JSON.parse(stderr).error.code
    }
    expect(await codeOf('--rights', 'observe,fly')).toBe('malformed')
    expect(await codeOf('--relay', 'wss://other.example/')).toBe('configuration')
  })
})
