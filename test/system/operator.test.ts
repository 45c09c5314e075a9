import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Ended, makePlace, type Place, program } from '../support/door.ts'

let place: Place

beforeEach(async () => {
  place = await makePlace()
})
afterEach(() => place.leave())

describe('the local operator', () => {
  it('invites, lists and revokes with a service and without one', async () => {
    const relay = place.start(['relay', '--listen', '127.0.0.1:0', '--json'])
    const { url } = JSON.parse(await relay.firstLine)
    const home = ['--relay', url, '--workspace', `demo=${place.workspace}`, '--loopback-test']
    await place.ask(['init', '--create-owner', ...home])

    // Without a service: directly on the files.
    const early = await place.ask(['invite', '--rights', 'operate,observe', '--grant-seconds', '3600'])
    const taken = await place.ask(['invite'])
    await place.ask(['invite', 'cancel', taken.invitation])
    expect(await place.ask(['devices'])).toEqual({ devices: [] })

    const service = place.start(['serve', '--loopback-test', '--json', '--log-level', 'silent'])
    await service.firstLine
    const device = await place.onDevice(['device', 'redeem', '-'], { input: early.code })
    expect(device.rights).toEqual(['observe', 'operate'])
    const late = await onDevice(['redeem', '-'], taken.code)
    expect([late.code, codeOf(late)]).toEqual([1, 'revoked'])
    const { devices } = await place.ask(['devices'])
    expect(devices).toMatchObject([
      { device: device.device, state: 'active', rights: ['observe', 'operate'] },
    ])

    // The service takes up a new workspace at once.
    await place.ask(['workspace', 'add', `other=${place.base}/repository`])
    const created = await place.onDevice([
      'device',
      'create',
      '--workspace',
      'other',
      '--title',
      'There',
      '--prompt',
      'Go.',
    ])
    await place.ask(['workspace', 'remove', 'demo'])
    const gone = await onDevice(['create', '--workspace', 'demo', '--title', 'a', '--prompt', 'b'])
    expect([gone.code, codeOf(gone)]).toEqual([1, 'forbidden'])

    // As the owner: the queue of that task, under the owner's own lease.
    await place.onDevice(['device', 'queue', created.task, 'Then this.'])
    const leased = await place.ask(['queue', 'lease', created.task])
    expect(leased.items).toMatchObject([{ text: null, device: device.device }])
    const held = await onDevice(['lease', created.task])
    expect(codeOf(held)).toBe('conflict')
    const others = await place.run(['queue', 'remove', created.task, leased.items[0].command, '--json'])
    expect(codeOf(others)).toBe('forbidden')
    await service.stop()
    expect((await place.ask(['queue', 'release', created.task])).lease).toBeNull()

    // Revoked without a service; the next service holds to it.
    const revoked = await place.ask(['revoke', '--device', device.device])
    expect(revoked).toEqual({ device: device.device, epoch: 1, grants: [device.grant] })
    await place.start(['serve', '--loopback-test', '--json', '--log-level', 'silent']).firstLine
    const after = await onDevice(['tasks'])
    expect([after.code, codeOf(after)]).toEqual([1, 'revoked'])
  }, 90_000)

  it('writes an invitation to a file of its own that only its owner can read, and shows nothing of it', async () => {
    await place.ask(['init', '--create-owner', '--relay', 'wss://relay.example'])
    const made = await place.run(['invite', '--out', 'code.txt'])
    expect([made.code, made.stderr]).toEqual([0, ''])
    expect(made.stdout).not.toContain('coder-host:')
    const file = join(place.base, 'code.txt')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const code = await readFile(file, 'utf8')
    expect(code).toMatch(/^coder-host:[\w-]+\n$/)
    expect((await place.ask(['protocol', 'invitation', file])).relay).toBe('wss://relay.example')

    const again = await place.run(['invite', '--out', 'code.txt', '--json'])
    expect([again.code, codeOf(again)]).toEqual([1, 'io'])
    const nowhere = await place.run(['invite', '--out', 'none/code.txt', '--json'])
    expect([nowhere.code, codeOf(nowhere)]).toEqual([1, 'io'])
    expect(await readFile(file, 'utf8')).toBe(code)
    const book = JSON.parse(await readFile(join(place.home, 'host/access.json'), 'utf8'))
    const open = book.invitations.filter((one: { cancelled_at: unknown }) => one.cancelled_at === null)
    expect(open).toHaveLength(1)
  })

  it('shows an invitation as one line of text, then as a QR code unless told not to', async () => {
    await place.ask(['init', '--create-owner', '--relay', 'wss://relay.example'])
    const drawn = await place.run(['invite'])
    expect(drawn.stdout).toMatch(/^coder-host:[\w-]+\n\n[█▀▄ \n]{200}/)
    const plain = await place.run(['invite', '--no-qr'])
    expect(plain.stdout).toMatch(/^coder-host:[\w-]+\n\ninvitation /)
    expect(plain.stdout).not.toContain('█')
    const wrong = await place.run(['invite', '--rights', 'everything', '--json'])
    expect(codeOf(wrong)).toBe('malformed')
    expect((await place.run(['invite', '--grant-seconds', '2592001'])).code).toBe(64)
  })

  it('serves on a relay of its own, which carries only its own events', async () => {
    await place.ask(['init', '--create-owner', '--workspace', `demo=${place.workspace}`])
    const serving = [
      'serve',
      '--embedded-relay',
      '127.0.0.1:0',
      '--loopback-test',
      '--log-level',
      'silent',
      '--json',
    ]
    const { relays } = JSON.parse(await place.start(serving).firstLine)
    expect(relays).toMatchObject([{ url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+$/), state: 'live' }])
    const { code } = await place.ask(['invite'])
    const device = await place.onDevice(['device', 'redeem', '-'], { input: code })
    expect(device.relay).toBe(relays[0].url)
  }, 60_000)
})

describe('conventions of every command', () => {
  it('takes --json and --home before the command and after it', async () => {
    const first = await place.run(['--json', '--home', place.home, 'init', '--create-owner'])
    const second = await place.run(['init', '--json', '--home', place.home], {
      env: { DRAWBRIDGE_HOME: '/none' },
    })
    expect(first.code, first.stderr).toBe(0)
    expect(JSON.parse(second.stdout)).toEqual(JSON.parse(first.stdout))
  })

  it('usage errors exit 64 and leave standard output empty', async () => {
    for (const words of [
      [],
      ['nope'],
      ['init', '--nope'],
      ['init', 'extra'],
      ['serve', '--log-level', 'loud'],
      ['revoke'],
    ]) {
      const ended = await place.run(words)
      expect([words, ended.code, ended.stdout]).toEqual([words, 64, ''])
      expect(ended.stderr).not.toBe('')
    }
  })

  it('prints no colour into a pipe', async () => {
    await place.ask(['init', '--create-owner'])
    for (const words of [['init'], ['doctor'], ['--help']]) {
      expect((await place.run(words, { env: { CI: '1' } })).stdout).not.toContain('\u001b')
    }
  })

  it('prints colour on a terminal, unless NO_COLOR says otherwise', async () => {
    await place.ask(['init', '--create-owner'])
    const colour = /\u001b\[\d+m/
    expect(await onTerminal('doctor', {})).toMatch(colour)
    expect(await onTerminal('doctor', { NO_COLOR: '1' })).not.toMatch(colour)
  })

  it('says on a terminal what it waits for, and wipes it away', async () => {
    const shown = await onTerminal('status --wait 1', {})
    expect(shown).toMatch(/status …\r\u001b\[K[^…]*\(not_running\)/)
    const piped = await place.run(['status', '--wait', '1'])
    expect(piped.stderr).not.toContain('…')
  })

  it('Ctrl-C ends what waits with 130', async () => {
    await place.ask(['init', '--create-owner'])
    const waiting = place.start(['status', '--wait', '60'])
    await new Promise<void>((resolve) => setTimeout(resolve, 1_000))
    expect((await waiting.stop('SIGINT')).code).toBe(130)
  })

  it('a reader that goes away is code output', async () => {
    const line = `( sleep 0.5; '${process.execPath}' '${program}' --json workspace list; echo $? >&2 ) | true`
    await place.ask(['init', '--create-owner'])
    const done = await execa('sh', ['-c', line], { env: { DRAWBRIDGE_HOME: place.home }, reject: false })
    const [refusal, code] = done.stderr.split('\n')
    expect(JSON.parse(refusal ?? '').error.code).toBe('output')
    expect(code).toBe('1')
  })

  it('completes in a bash without the package bash-completion', async () => {
    const bin = join(place.base, 'bin')
    await mkdir(bin)
    const wrapper = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`
    await writeFile(join(bin, 'drawbridge'), wrapper, { mode: 0o755 })
    const script = `source <(drawbridge completion bash)
COMP_LINE="drawbridge device que"; COMP_POINT=\${#COMP_LINE}
__drawbridge_complete 2>/dev/null
echo "\${COMPREPLY[*]}"`
    const done = await execa('bash', ['--norc', '--noprofile', '-c', script], {
      extendEnv: false,
      env: { PATH: `${bin}:/usr/bin:/bin` },
      reject: false,
    })
    expect(done.stderr).toBe('')
    expect(done.stdout.split(/\s+/).sort()).toEqual(['queue', 'queue-list'])
  })

  it('refuses a shell that it does not know, and shows in help how to use it', async () => {
    const other = await place.run(['completion', 'powershell'])
    expect([other.code, other.stdout]).toEqual([64, ''])
    const help = await place.run(['completion', '--help'])
    expect([help.code, help.stdout]).toEqual([
      0,
      expect.stringMatching(/Example:\n {2}drawbridge completion bash/),
    ])
    expect((await place.run(['complete', '--', 'completion', ''])).stdout).not.toContain('powershell')
  })

  it('completes commands and their options in three shells', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const ended = await place.run(['completion', shell])
      expect([ended.code, ended.stderr]).toEqual([0, ''])
      expect(ended.stdout).toContain('drawbridge')
    }
    const { stdout } = await place.run(['complete', '--', 'device', 'que'])
    expect(stdout).toContain('queue-list')
  })
})

function onDevice(words: readonly string[], input = ''): Promise<Ended> {
  return place.run(['device', ...words, '--state', place.device, '--loopback-test', '--json'], { input })
}

/** What a person sees who gives the command on a terminal. */
async function onTerminal(words: string, env: Record<string, string>): Promise<string> {
  const line = `'${process.execPath}' '${program}' --home '${place.home}' ${words}`
  const done = await execa('script', ['--quiet', '--command', line, '/dev/null'], {
    reject: false,
    extendEnv: false,
    env: { PATH: '/usr/bin:/bin', TERM: 'xterm', ...env },
  })
  return done.stdout
}

function codeOf(ended: Ended): string {
  expect(ended.stdout).toBe('')
  return JSON.parse(ended.stderr).error.code
}
