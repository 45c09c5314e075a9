import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { program } from '../support/door.ts'

let temporary: string

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'drawbridge-test-'))
})
afterEach(() => rm(temporary, { recursive: true, force: true }))

describe('the demo', () => {
  it('plays the whole story and leaves no file and no process behind', async () => {
    const done = await play(['demo'])
    expect([done.exitCode, done.stderr]).toEqual([0, ''])
    for (const said of ['turn 1 runs', 'swapped them and edited one', 'stopped', 'History of the queue']) {
      expect(done.stdout).toContain(said)
    }
    expect(done.stdout).toMatch(
      / {2}Raise the bridge and hold the gate\.\n {2}Count the boats\.\n {2}Keep watch all night\.\n/,
    )
    expect(await left()).toEqual([])
  }, 90_000)

  it('leaves nothing behind when it is interrupted while a turn runs, and exits 130', async () => {
    const playing = play(['demo', '--json'])
    await said(playing, 'turn 1 runs')
    playing.kill('SIGINT')
    const done = await playing
    expect(done.exitCode, done.stderr).toBe(130)
    expect(JSON.parse(done.stderr).error.code).toBe('interrupted')
    expect(await left()).toEqual([])
  }, 90_000)

  it('leaves nothing behind when it fails in its middle', async () => {
    const playing = play(['demo', '--json'])
    await said(playing, 'turn 1 runs')
    const service = (await processes()).find(({ words }) => words.includes(' serve '))
    process.kill(service?.pid ?? 0, 'SIGKILL')
    const done = await playing
    expect(done.exitCode, done.stdout).toBe(1)
    expect(JSON.parse(done.stderr).error.code).toBe('io')
    expect(await left()).toEqual([])
  }, 90_000)

  it('leaves nothing behind when its reader goes away', async () => {
    const line = `'${process.execPath}' '${program}' demo | head -n 6`
    const done = await execa('bash', ['-c', `set -o pipefail; ${line}`], {
      reject: false,
      env: environment(),
    })
    expect(done.exitCode).toBe(1)
    expect(done.stderr).toContain('(output)')
    expect(await left()).toEqual([])
  }, 90_000)

  it('says at once when the machine cannot run turns', async () => {
    const hide = ['--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap']
    const done = await execa('/usr/bin/bwrap', [...hide, '--', process.execPath, program, 'demo'], {
      reject: false,
      env: environment(),
    })
    expect([done.exitCode, done.stdout]).toEqual([1, ''])
    expect(done.stderr).toMatch(/bubblewrap is missing.*\nsudo apt-get install bubblewrap/)
    expect(await left()).toEqual([])
  })
})

function play(words: readonly string[]) {
  return execa(process.execPath, [program, ...words], { reject: false, env: environment() })
}

function environment(): Record<string, string> {
  const leave = process.getuid?.() === 0 ? { DRAWBRIDGE_ALLOW_ROOT: '1' } : {}
  return { TMPDIR: temporary, ...leave }
}

/** Resolves when the demo has said `words`, or is over. */
async function said(playing: ReturnType<typeof play>, words: string): Promise<void> {
  let seen = ''
  await new Promise<void>((resolve) => {
    playing.stdout.on('data', (part: Buffer) => {
      seen += part.toString()
      if (seen.includes(words)) resolve()
    })
    void playing.then(() => resolve())
  })
}

/** What is left of a demo: its files, and processes that name its temporary folder or work in it. */
async function left(): Promise<string[]> {
  const files = (await readdir(temporary)).map((name) => `file ${name}`)
  return [...files, ...(await processes()).map(({ words }) => `process ${words}`)]
}

async function processes(): Promise<{ pid: number; words: string }[]> {
  const found: { pid: number; words: string }[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
    if (words.includes(temporary) || environ.includes(temporary)) {
      found.push({ pid: Number(pid), words: words.replaceAll('\0', ' ') })
    }
  }
  return found
}
