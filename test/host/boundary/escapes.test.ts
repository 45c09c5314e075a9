import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place, runScript } from '../../support/sandboxed.ts'

let place: Place

beforeEach(() => {
  place = makePlace()
})

afterEach(() => {
  place.remove()
})

/** Runs a script that must fail, and gives what it said. */
async function refused(script: string, options: Parameters<typeof runScript>[2] = {}): Promise<string> {
  const end = await runScript(place, script, options)
  expect(end.exit_code, `${script}: ${end.output}${end.stderr.text}`).not.toBe(0)
  return end.stderr.text
}

function listening(server: Server, where: number | string): Promise<void> {
  return new Promise((resolve) => {
    server.listen(typeof where === 'number' ? { port: where, host: '127.0.0.1' } : { path: where }, resolve)
  })
}

const nodeProgram = realpathSync(process.execPath)

describe('what a command can write', () => {
  it('is nothing, without leave to write the workspace', async () => {
    writeFileSync(join(place.workspace, 'list'), 'as it was')
    await refused('echo changed > list')
    await refused('rm list')
    await refused('touch new')
    expect(readFileSync(join(place.workspace, 'list'), 'utf8')).toBe('as it was')
  })

  it('is the workspace, with leave', async () => {
    const end = await runScript(place, 'echo changed > list; mkdir d; mv list d/', { write: true })
    expect(end.ending).toBe('exit 0')
    expect(readFileSync(join(place.workspace, 'd', 'list'), 'utf8')).toBe('changed\n')
    expect(statSync(join(place.workspace, 'd', 'list')).uid).toBe(process.getuid?.())
  })

  it('is not the system, the root or the devices', async () => {
    for (const path of [
      '/x',
      '/usr/x',
      '/etc/x',
      '/dev/x',
      '/run/x',
      '/proc/sys/kernel/hostname',
      '/var/x',
    ]) {
      await refused(`echo x > ${path}`, { write: true })
    }
    expect(existsSync('/usr/x')).toBe(false)
  })

  it('is not the host through a link in the workspace', async () => {
    writeFileSync(join(place.home, 'secret'), 'as it was')
    symlinkSync(join(place.home, 'secret'), join(place.workspace, 'link'))
    await refused('echo changed > link', { write: true })
    await refused('cat link', { write: true })
    await refused(`ln ${place.home}/secret hard`, { write: true })
    expect(readFileSync(join(place.home, 'secret'), 'utf8')).toBe('as it was')
  })

  it('is temporary files, which are gone afterwards and not the host’s', async () => {
    const end = await runScript(place, 'echo x > /tmp/mine && echo x > /dev/shm/mine && cat /tmp/mine')
    expect(end.output).toBe('x\n')
    expect(existsSync('/tmp/mine')).toBe(false)
    expect(existsSync('/dev/shm/mine')).toBe(false)
  })

  it('is no file of more than 8 GiB', async () => {
    await refused('truncate -s 8589934593 big', { write: true })
  })

  it('is no git setting that the person would run later', async () => {
    mkdirSync(join(place.workspace, '.git', 'hooks'), { recursive: true })
    writeFileSync(join(place.workspace, '.git', 'config'), 'as it was')
    mkdirSync(join(place.workspace, 'nested', '.git'), { recursive: true })
    mkdirSync(join(place.workspace, 'tree'))
    writeFileSync(join(place.workspace, 'tree', '.git'), 'gitdir: /elsewhere\n')
    for (const attack of [
      'echo x > .git/config',
      'echo x > .git/hooks/pre-commit',
      'echo x > nested/.git/config',
      'echo "gitdir: /tmp" > tree/.git',
      'rm tree/.git',
      'mv .git .git-away',
      'rm -rf .git/config',
    ]) {
      await refused(attack, { write: true })
    }
    expect(readFileSync(join(place.workspace, '.git', 'config'), 'utf8')).toBe('as it was')
    const end = await runScript(place, 'cat .git/config; echo fine > list', { write: true })
    expect(end).toMatchObject({ ending: 'exit 0', output: 'as it was' })
  })
})

describe('what a command can see', () => {
  it('is not the home, nor its files', async () => {
    writeFileSync(join(place.home, 'host.key'), 'secret')
    const end = await runScript(place, `cat ${place.home}/host.key; ls ${place.home}; ls ${place.root}`)
    expect(end.output).not.toContain('secret')
    expect(end.output).not.toContain('host.key')
  })

  it('is not a home inside the workspace', async () => {
    const inner = { ...place, home: join(place.workspace, '.home') }
    mkdirSync(inner.home)
    writeFileSync(join(inner.home, 'host.key'), 'secret')
    const end = await runScript(inner, 'ls -A .home; cat .home/host.key; touch .home/x || echo refused')
    expect(end.output).toBe('refused\n')
  })

  it('is not another workspace, nor other people’s files', async () => {
    for (const path of [place.root, '/root/.profile', '/home', '/etc/shadow', '/var', '/srv']) {
      await refused(`test -e ${path} && ls ${path}/other`)
    }
    await refused('cat /etc/shadow')
  })

  it('is no process but its own', async () => {
    const end = await runScript(place, 'for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline; echo; done')
    expect(end.output).not.toContain('vitest')
    expect(end.output.split('\n').filter((line) => line !== '').length).toBeLessThan(8)
    await refused(`kill -0 ${process.pid}`)
  })

  it('is an environment of PATH alone', async () => {
    const end = await runScript(place, 'tr "\\0" "\\n" < /proc/self/environ')
    expect(end.output.split('\n').filter((line) => !/^(PATH=.*|PWD=.*|OLDPWD=.*|)$/.test(line))).toEqual([])
    expect(end.output).toContain('PATH=/usr/bin:/bin:/run/current-system/sw/bin')
  })

  it('is no descriptor of ours: none but the three streams', async () => {
    const ours = openSync(place.home, 'r')
    const end = await runScript(place, 'ls /proc/$$/fd; readlink /proc/$$/fd/0')
    closeSync(ours)
    expect(end.output).toBe('0\n1\n2\n/dev/null\n')
  })

  it('is no descriptor that our own parent left open to us', () => {
    const program = fileURLToPath(new URL('../../fixtures/sandboxed-command.ts', import.meta.url))
    const tsx = fileURLToPath(new URL('../../../node_modules/tsx/dist/cli.mjs', import.meta.url))
    const script = 'exec 40< "$1"; exec "$2" "$3" "$4" "ls /proc/\\$\\$/fd; ls /proc/\\$\\$/fd/40"'
    const args = ['-c', script, 'bash', place.home, process.execPath, tsx, program]
    expect(execFileSync('/bin/bash', args).toString().trim()).toBe('0\n1\n2')
  })

  it('is its prompt and its turn, to read and not to write', async () => {
    writeFileSync(join(place.turnFolder, 'prompt.txt'), 'Sort the entries.')
    const end = await runScript(place, 'cat /run/drawbridge/turn/prompt.txt', { write: true })
    expect(end.output).toBe('Sort the entries.')
    await refused('echo x > /run/drawbridge/turn/prompt.txt', { write: true })
    await refused('rm /run/drawbridge/turn/prompt.txt', { write: true })
    await refused('touch /run/drawbridge/turn/new', { write: true })
    expect(readFileSync(join(place.turnFolder, 'prompt.txt'), 'utf8')).toBe('Sort the entries.')
  })

  it('is its workspace as working directory', async () => {
    expect((await runScript(place, 'pwd')).output.trim()).toBe(place.workspace)
  })
})

describe('what a command can reach', () => {
  const connect = (target: string): string =>
    `const s=require("net").connect(${target});s.on("connect",()=>{console.log("reached");process.exit(0)});s.on("error",(e)=>{console.log(e.code);process.exit(1)})`

  it('is no port of this machine', async () => {
    const server = createHttpServer()
    await listening(server, 0)
    const { port } = server.address() as AddressInfo
    const end = await runScript(place, '', {
      program: nodeProgram,
      arguments: ['-e', connect(`{host:"127.0.0.1",port:${port}}`)],
      memoryBytes: 1_073_741_824,
    })
    server.close()
    expect(end.output).toBe('ECONNREFUSED\n')
  })

  it('is no other machine', async () => {
    const end = await runScript(place, '', {
      program: nodeProgram,
      arguments: ['-e', connect('{host:"192.0.2.1",port:80}')],
      memoryBytes: 1_073_741_824,
    })
    expect(end.output).toBe('ENETUNREACH\n')
  })

  it('is no socket in the home, and no abstract one', async () => {
    const server = createServer()
    const abstract = createServer()
    const name = `drawbridge-test-${process.pid}`
    await listening(server, join(place.home, 'control.sock'))
    await listening(abstract, `\0${name}`)
    for (const target of [`{path:"${place.home}/control.sock"}`, `{path:"\\0${name}"}`]) {
      const end = await runScript(place, '', {
        program: nodeProgram,
        arguments: ['-e', connect(target)],
        memoryBytes: 1_073_741_824,
      })
      expect(['ENOENT\n', 'ECONNREFUSED\n']).toContain(end.output)
    }
    server.close()
    abstract.close()
  })
})

describe('what a command can become', () => {
  it('is nobody with any capability', async () => {
    const end = await runScript(place, 'grep Cap /proc/self/status')
    expect(end.output.match(/0000000000000000/g)).toHaveLength(5)
  })

  it('is nobody in a namespace of its own, and it mounts nothing', async () => {
    await refused('unshare --user true')
    await refused('unshare --mount true')
    await refused('mount -t tmpfs none /tmp')
    await refused('mount -o remount,rw /')
    await refused('chroot /tmp /usr/bin/true')
  })

  it('is no more than 512 processes, but for root, whom the kernel does not count; none outlives the turn', async () => {
    const script = 'i=0; while [ $i -lt 700 ]; do sleep 60 & i=$((i+1)); done; echo all'
    const end = await runScript(place, script, { wallSeconds: 20, memoryBytes: 4_294_967_296 })
    const isRoot = process.getuid?.() === 0
    expect([end.ending, end.output]).toEqual(isRoot ? ['exit 0', 'all\n'] : ['exit 2', ''])
    expect(end.group_clear).toBe(true)
  })
})
