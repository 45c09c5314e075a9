import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Ended, makePlace, type Place, program } from '../support/door.ts'
import { submitAction, taskCommand } from '../support/task-command.ts'

let place: Place

beforeEach(async () => {
  place = await makePlace()
})
afterEach(() => place.leave())

describe('a machine that cannot run turns', () => {
  it('says that bubblewrap is missing and what to install, and records nothing', async () => {
    const grant = await grantedTask()
    // The command line runs where /usr/bin/bwrap is not a program; nothing else differs.
    const without = ['--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap']
    const ended = await wrapped(without, ['task', 'execute', '--grant', grant])
    expect(refusalOf(ended)).toMatchObject({
      code: 'io',
      message: expect.stringContaining('bubblewrap is missing'),
    })
    const doctor = await wrapped(without, ['doctor'])
    expect(doctor.code).toBe(1)
    expect(doctor.stdout).toMatch(
      /FAIL boundary .*bubblewrap is missing.*\n {5}sudo apt-get install bubblewrap\n/,
    )
    const serve = await wrapped(without, ['serve', '--json', '--log-level', 'silent'])
    expect(refusalOf(serve)).toMatchObject({
      code: 'io',
      message: expect.stringMatching(/^bubblewrap is missing: .*sudo apt-get install bubblewrap$/),
    })
    await expect(stat(join(place.home, 'run/pid'))).rejects.toMatchObject({ code: 'ENOENT' })
    expect((await place.ask(['task', 'show', 'task-1'])).status).toBe('queued')
  })

  it('refuses to start turns as root without leave, and with leave it does', async () => {
    const grant = await grantedTask()
    const asRoot = ['--dev-bind', '/', '/', '--unshare-user', '--uid', '0', '--gid', '0']
    for (const words of [
      ['serve'],
      ['relay', '--listen', '127.0.0.1:0'],
      ['task', 'start', '--grant', grant],
      ['task', 'execute', '--grant', grant],
      ['demo'],
    ]) {
      const ended = await wrapped(asRoot, [...words, '--json'], { DRAWBRIDGE_ALLOW_ROOT: '' })
      expect([words[0], refusalOf(ended).code]).toEqual([words[0], 'root_refused'])
    }
    expect((await place.ask(['task', 'show', 'task-1'])).status).toBe('queued')
    const looked = await wrapped(asRoot, ['task', 'list', '--json'], { DRAWBRIDGE_ALLOW_ROOT: '' })
    expect(looked.code, looked.stderr).toBe(0)
  })
})

describe('a workspace that cannot be used', () => {
  it('refuses one that is not there, that is no repository, or whose writable checkout holds its git directory', async () => {
    const plain = join(place.base, 'plain')
    await mkdir(plain)
    const repository = join(place.base, 'repository')
    const gone = join(place.base, 'gone')
    await mkdir(gone)
    const cases = [
      [plain, 'git'],
      [repository, '.git'],
      [gone, ''],
    ] as const
    await place.ask(['init', '--create-owner'])
    for (const [at, [workspace, word]] of cases.entries()) {
      const task = `task-${at}`
      const command = taskCommand(submitAction(workspace), { command: `cmd-${at}`, task })
      await place.ask(['task', 'submit', '--file', '-'], { input: command })
      const grant = join(place.base, `grant-${at}.json`)
      await place.ask(['grant', 'new', task, '--program', '/bin/sh', '--write', '--out', grant])
      if (workspace === gone) await rm(gone, { recursive: true })
      const refusal = refusalOf(await place.run(['task', 'execute', '--grant', grant]))
      expect(refusal.code).toBe('io')
      expect(refusal.message).toContain(word)
      const shown = await place.ask(['task', 'show', task])
      expect([shown.status, shown.run]).toEqual(['queued', undefined])
    }
  })

  it('refuses one that holds the home, or lies in it', async () => {
    const around = await place.run(['init', '--create-owner', '--workspace', `all=${place.base}`, '--json'])
    expect(refusalOf(around).code).toBe('unsafe_path')
    await place.ask(['init', '--create-owner'])
    const inside = await place.run(['workspace', 'add', `mine=${place.home}/host`, '--json'])
    expect(refusalOf(inside).code).toBe('unsafe_path')
    const none = await place.run(['workspace', 'add', `none=${place.base}/none`, '--json'])
    expect(refusalOf(none).code).toBe('io')
  })

  it('refuses a policy for a workspace or a program that is not there, or a program that its turns could change', async () => {
    await place.ask(['init', '--create-owner', '--workspace', `demo=${place.workspace}`])
    await writeFile(join(place.workspace, 'tool'), '#!/bin/sh\n')
    const on = (workspace: string, path: string) =>
      place.run(['autostart', 'on', '--workspace', workspace, '--program', path, '--write', '--json'])
    expect(refusalOf(await on('other', '/bin/sh')).code).toBe('not_found')
    expect(refusalOf(await on('demo', '/no/such/program')).code).toBe('io')
    expect(refusalOf(await on('demo', join(place.workspace, 'tool'))).code).toBe('unsafe_path')
    expect(await place.ask(['autostart', 'show'])).toEqual({ enabled: false })
  })
})

describe('a home that cannot be trusted', () => {
  it.each([
    ['the home', '', 0o755],
    ['host/', 'host', 0o750],
    ['the host key', 'host/host.key', 0o644],
    ['tasks/', 'tasks', 0o777],
  ])('refuses to serve when others can reach %s, and says what to type', async (_what, path, mode) => {
    await place.ask(['init', '--create-owner', '--relay', 'ws://127.0.0.1:9', '--loopback-test'])
    await chmod(join(place.home, path), mode)
    const ended = await place.run(['serve', '--loopback-test', '--log-level', 'silent'])
    expect([ended.code, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toMatch(/^drawbridge: .*\(unsafe_path\)\n.*chmod/)
  })

  it.each([
    ['the home', '', 0o755],
    ['host/', 'host', 0o750],
    ['tasks/', 'tasks', 0o755],
  ])('refuses every command that uses it when others can reach %s', async (_what, path, mode) => {
    const grant = await grantedTask()
    await chmod(join(place.home, path), mode)
    for (const words of [
      ['task', 'list'],
      ['task', 'show', 'task-1'],
      ['task', 'view', 'task-1'],
      ['task', 'archive', 'task-1', '--reason', 'done'],
      ['task', 'execute', '--grant', grant],
      ['task', 'settle'],
      ['grant', 'new', 'task-1', '--program', '/bin/sh'],
      ['commands', 'list'],
      ['queue', 'list', 'task-1'],
      ['status'],
      ['devices'],
      ['relay', 'list'],
      ['init'],
    ]) {
      const refusal = refusalOf(await place.run([...words, '--json']))
      expect([words, refusal.code]).toEqual([words, 'unsafe_path'])
      expect(refusal.message).toContain(`chmod -R go= '${place.home}'`)
    }
    const start = refusalOf(await place.run(['task', 'start', '--grant', grant]))
    expect(start.code).toBe('start_owner')
    expect(start.message).toContain(`chmod -R go= '${place.home}'`)
    expect((await place.run(['doctor'])).stdout).toMatch(/FAIL home .*\n {5}chmod -R go= /)
  })

  it('checks only the store where one is named', async () => {
    await grantedTask()
    await chmod(place.home, 0o755)
    const listed = await place.ask(['task', 'list', '--store', join(place.home, 'tasks')])
    expect(listed).toMatchObject([{ task_id: 'task-1', status: 'queued' }])
  })

  it('refuses to serve without a home, and after a file of an initialised home was lost', async () => {
    const before = await place.run(['serve', '--json'])
    expect(refusalOf(before).code).toBe('configuration')
    await place.ask(['init', '--create-owner', '--relay', 'wss://relay.example'])
    await rm(join(place.home, 'host/host.key'))
    const after = await place.run(['serve', '--json', '--log-level', 'silent'])
    expect(refusalOf(after)).toMatchObject({
      code: 'corrupt_store',
      message: expect.stringContaining('host.key'),
    })
  })

  it('keeps its owner: another one is refused', async () => {
    const { owner } = await place.ask(['init', '--create-owner'])
    const other = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
    expect(refusalOf(await place.run(['init', '--owner', other, '--json'])).code).toBe('configuration')
    expect((await place.ask(['init', '--owner', owner])).owner).toBe(owner)
  })
})

describe('one service a home', () => {
  it('a second serve exits 1 and names the process of the first', async () => {
    const relay = place.start(['relay', '--listen', '127.0.0.1:0', '--json'])
    const { url } = JSON.parse(await relay.firstLine)
    await place.ask(['init', '--create-owner', '--relay', url, '--loopback-test'])
    const first = place.start(['serve', '--loopback-test', '--json', '--log-level', 'silent'])
    const { pid } = JSON.parse(await first.firstLine)
    const second = await place.run(['serve', '--loopback-test', '--json', '--log-level', 'silent'])
    expect(refusalOf(second)).toMatchObject({
      code: 'already_running',
      message: expect.stringContaining(String(pid)),
    })
    expect((await place.ask(['status'])).pid).toBe(pid)
    expect(await readFile(join(place.home, 'run/pid'), 'utf8')).toBe(`${pid}\n`)
  })

  it('status exits 69 when there is none, also after waiting', async () => {
    for (const words of [['status'], ['status', '--wait', '0'], ['status', '--wait', '1']]) {
      const ended = await place.run([...words, '--json'])
      expect([ended.code, ended.stdout]).toEqual([69, ''])
      expect(JSON.parse(ended.stderr).error.code).toBe('not_running')
    }
  })
})

/** A task that waits, and the file of a grant for it. */
async function grantedTask(): Promise<string> {
  await place.ask(['init', '--create-owner'])
  await place.ask(['task', 'submit', '--file', '-'], { input: taskCommand(submitAction(place.workspace)) })
  const grant = join(place.base, 'grant.json')
  await place.ask(['grant', 'new', 'task-1', '--program', '/bin/sh', '--out', grant])
  return grant
}

/** Runs the command line inside a mount or user namespace that differs in one thing. */
async function wrapped(
  how: readonly string[],
  words: readonly string[],
  env: Record<string, string> = { DRAWBRIDGE_ALLOW_ROOT: '1' },
): Promise<Ended> {
  const done = await execa('/usr/bin/bwrap', [...how, '--', process.execPath, program, ...words], {
    reject: false,
    stripFinalNewline: false,
    env: { DRAWBRIDGE_HOME: place.home, ...env },
    cwd: place.base,
  })
  return { code: done.exitCode, stdout: done.stdout, stderr: done.stderr }
}

/** The refusal of a command that was to answer in JSON, with nothing on standard output. */
function refusalOf(ended: Ended): { code: string; message: string } {
  expect([ended.code, ended.stdout]).toEqual([1, ''])
  return JSON.parse(ended.stderr).error
}
