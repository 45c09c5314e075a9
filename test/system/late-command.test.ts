import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Going, makePlace, type Place } from '../support/door.ts'

const script = `
prompt=$(cat /run/drawbridge/turn/prompt.txt)
case $prompt in *one*) gate=one ;; *) gate=two ;; esac
while [ ! -e $gate ]; do sleep 0.05; done
`

let place: Place
let relay: Going
let service: Going
let url: string

beforeEach(async () => {
  place = await makePlace()
  relay = place.start(['relay', '--listen', '127.0.0.1:0', '--json'])
  url = JSON.parse(await relay.firstLine).url
  const home = ['--relay', url, '--workspace', `demo=${place.workspace}`, '--loopback-test']
  await place.ask(['init', '--create-owner', ...home])
  const terms = ['--program', '/bin/sh', '--arg', '-c', '--arg', script, '--memory-mib', '256']
  await place.ask(['autostart', 'on', '--workspace', 'demo', ...terms])
  await serve()
  const { code } = await place.ask(['invite'])
  await place.onDevice(['device', 'redeem', '-'], { input: code })
})
afterEach(() => place.leave())

describe('while the host does not hear', () => {
  it('an interrupt stops the turn that its sender saw, never the next', async () => {
    const create = ['--workspace', 'demo', '--title', 'Gates', '--prompt', 'Hold gate one.']
    const { task } = await place.onDevice(['device', 'create', ...create])
    await place.until('turn 1 to run', ['task', 'show', task], ({ status }) => status === 'running')
    await place.onDevice(['device', 'queue', task, 'Hold gate two.'])

    const { pid } = await place.ask(['status'])
    process.kill(pid, 'SIGSTOP')
    const late = place.run(device(['interrupt', task, 'enough', '--json']))
    try {
      await writeFile(join(place.workspace, 'one'), '')
      await place.until('turn 1 to end', ['task', 'show', task], (now) => now.run?.result != null)
      const outbox = () => readFile(join(place.device, 'outbox.json'), 'utf8')
      await expect.poll(outbox, { timeout: 10_000 }).toContain('"interrupt"')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    expect(JSON.parse((await late).stderr).error.code).toBe('stale')

    const isTurnTwo = (now: Shown) => now.earlier?.length === 1 && now.run?.result === null
    await place.until('turn 2 to run', ['task', 'show', task], isTurnTwo)
    const { commands } = await place.ask(['commands', 'list', task])
    expect(commands.at(-1).state.outcome).toBe('superseded')
    expect(isTurnTwo(await place.ask(['task', 'show', task]))).toBe(true)
    await writeFile(join(place.workspace, 'two'), '')
    await place.until('turn 2 to end', ['task', 'show', task], (now) => now.run?.result != null)
  }, 90_000)

  it('a person who gives up is told whether the message was kept', async () => {
    const task = '7a'.repeat(32)
    await service.stop()
    await relay.stop()
    const mute = await muteServer(Number(new URL(url).port))
    const asking = place.start(device(['interrupt', task, 'enough']))
    await mute.dialled()
    expect(await asking.stop('SIGINT')).toMatchObject({
      code: 130,
      stdout: '',
      stderr: expect.stringContaining('interrupted before the interrupt was kept'),
    })
    const sending = place.start(device(['queue', task, 'Next.']))
    await mute.dialled()
    expect(await sending.stop('SIGINT')).toMatchObject({
      code: 130,
      stdout: '',
      stderr: expect.stringMatching(
        /the queue is kept in the outbox as [0-9a-f]{64}.*\n.*drawbridge device outbox/,
      ),
    })
    mute.close()
  }, 60_000)
})

interface Shown {
  readonly earlier?: readonly unknown[]
  readonly run: { readonly result: unknown } | null
}

async function serve(): Promise<void> {
  service = place.start(['serve', '--loopback-test', '--log-level', 'warn', '--json'])
  await service.firstLine
  await place.ask(['status', '--wait', '15'])
}

function device(words: readonly string[]): string[] {
  return ['device', ...words, '--state', place.device, '--loopback-test']
}

/** A relay that takes connections and says nothing. */
async function muteServer(port: number): Promise<{ dialled(): Promise<void>; close(): void }> {
  const sockets: Socket[] = []
  let heard = (): void => {}
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    heard()
  })
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    dialled: () =>
      new Promise((resolve) => {
        heard = resolve
      }),
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
