import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLauncher } from '../../../src/host/supervise/launch-owner.ts'
import { readStat } from '../../../src/host/supervise/proc.ts'
import { tempDir } from '../../support/temp-dir.ts'

const entry = fileURLToPath(new URL('../../fixtures/launched.mjs', import.meta.url))
const launched: number[] = []
let diagnosticPath: string
let directory: string

beforeEach(async () => {
  directory = await tempDir()
  diagnosticPath = join(directory, 'launch.jsonl')
  writeFileSync(diagnosticPath, '', { mode: 0o600 })
})

afterEach(() => {
  for (const pid of launched.splice(0)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
})

async function launch(storeDir: string, settings: { allowRoot?: boolean } = {}) {
  const launcher = createLauncher({ home: '/home/x', allowRoot: settings.allowRoot ?? false, entry })
  const owner = await launcher.launch({ storeDir, grantPath: '/g.json', diagnosticPath })
  launched.push(owner.pid)
  return owner
}

async function told(): Promise<Record<string, unknown>> {
  await expect.poll(() => readFileSync(diagnosticPath, 'utf8'), { timeout: 5_000 }).toContain('and an error')
  return JSON.parse(readFileSync(diagnosticPath, 'utf8').split('\n')[0] ?? '')
}

describe('an owner', () => {
  it('is told its store, its grant, its home and no more', async () => {
    await launch('/store')
    expect((await told())['args']).toEqual([
      '--home',
      '/home/x',
      'task',
      'execute',
      '--store',
      '/store',
      '--grant',
      '/g.json',
    ])
  })

  it('is told that root is allowed, where it is', async () => {
    await launch('/store', { allowRoot: true })
    expect((await told())['args']).toContain('--allow-root')
  })

  it('has a session of its own, a cleared environment, no input, and no file but its diagnostic', async () => {
    const owner = await launch('/store')
    const { env, session, pid, input, cwd, files } = await told()
    const runtime = process.env['XDG_RUNTIME_DIR']
    expect(env).toEqual({
      PATH: '/usr/bin:/bin',
      ...(runtime === undefined ? {} : { XDG_RUNTIME_DIR: runtime }),
    })
    expect([session, pid, input, cwd]).toEqual([owner.pid, owner.pid, '/dev/null', '/'])
    expect((files as string[]).filter((path) => path.startsWith(directory))).toEqual([
      diagnosticPath,
      diagnosticPath,
    ])
  })

  it('tells its end while its launcher lives', async () => {
    const owner = await launch('/exit')
    expect(await owner.exited).toEqual({ code: 5, signal: null })
    const other = await launch('/store')
    process.kill(other.pid, 'SIGTERM')
    expect(await other.exited).toEqual({ code: null, signal: 'SIGTERM' })
  })

  it('neither holds its launcher nor ends with it', async () => {
    const program = `
      import { createLauncher } from ${JSON.stringify(new URL('../../../src/host/supervise/launch-owner.ts', import.meta.url).href)}
      const launcher = createLauncher({ home: '/h', allowRoot: false, entry: ${JSON.stringify(entry)} })
      const { pid } = await launcher.launch({ storeDir: '/s', grantPath: '/g', diagnosticPath: ${JSON.stringify(diagnosticPath)} })
      console.log(pid)`
    const script = join(directory, 'launcher.mts')
    writeFileSync(script, program)
    const tsx = fileURLToPath(new URL('../../../node_modules/tsx/dist/cli.mjs', import.meta.url))
    const launcher = spawn(process.execPath, [tsx, script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    const [bytes] = await once(launcher.stdout, 'data')
    const pid = Number(String(bytes))
    launched.push(pid)
    await once(launcher, 'exit')
    await told()
    expect(readStat(pid)?.state).toMatch(/[SRD]/)
  })
})

describe('a launch', () => {
  it('refuses without a diagnostic file, or through a link to one', async () => {
    const launcher = createLauncher({ home: '/h', allowRoot: false, entry })
    const at = (path: string) => launcher.launch({ storeDir: '/s', grantPath: '/g', diagnosticPath: path })
    await expect(at(join(directory, 'missing'))).rejects.toMatchObject({ code: 'start_owner' })
    symlinkSync(diagnosticPath, join(directory, 'link'))
    await expect(at(join(directory, 'link'))).rejects.toMatchObject({ code: 'start_owner' })
  })
})
