import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Going, makePlace, type Place } from '../support/door.ts'

const script = `
prompt=$(cat /run/drawbridge/turn/prompt.txt)
printf '%s\\n' "$prompt" >> crossing.txt
case $prompt in *gate*) while [ ! -e gate ]; do sleep 0.05; done; rm gate ;; esac
`

let place: Place
let service: Going

beforeEach(async () => {
  place = await makePlace()
  const relay = place.start(['relay', '--listen', '127.0.0.1:0', '--json'])
  const { url } = JSON.parse(await relay.firstLine)
  const home = ['--relay', url, '--workspace', `demo=${place.workspace}`, '--loopback-test']
  await place.ask(['init', '--create-owner', ...home])
  const terms = ['--program', '/bin/sh', '--arg', '-c', '--arg', script, '--write', '--memory-mib', '256']
  await place.ask(['autostart', 'on', '--workspace', 'demo', ...terms])
  service = await serve()
  const { code } = await place.ask(['invite'])
  await place.onDevice(['device', 'redeem', '-'], { input: code })
})
afterEach(() => place.leave())

describe('what is killed without warning', () => {
  it('a killed service loses nothing: its turn ends without it, and what was queued runs after the next start', async () => {
    const task = await waitingAtTheGate()
    await place.onDevice(['device', 'queue', task, 'Next.'])
    await service.stop('SIGKILL')
    await writeFile(join(place.workspace, 'gate'), '')
    await place.until('turn 1 to end', ['task', 'show', task], (now) => now.run?.result != null)

    // What the device sends meanwhile is not lost either: it stays unknown until the host is back.
    const sent = await place.run([
      'device',
      'queue',
      task,
      'And last.',
      '--state',
      place.device,
      '--loopback-test',
      '--json',
    ])
    expect([sent.code, JSON.parse(sent.stderr).error.code]).toEqual([1, 'timeout'])
    // A program can follow it: what was kept is named.
    const kept = JSON.parse(sent.stdout)
    expect(kept).toMatchObject({ kind: 'queue', task, state: 'unknown', why: expect.any(String) })
    service = await serve()
    const outbox = await place.onDevice(['device', 'outbox'])
    expect(outbox.sends.map((one: { state: string }) => one.state)).toEqual(Array(3).fill('accepted'))
    expect(outbox.sends[2].id).toBe(kept.id)

    await place.until('turn 3 to end', ['task', 'show', task], (now) => {
      return now.earlier?.length === 2 && now.run?.result != null
    })
    const file = await readFile(join(place.workspace, 'crossing.txt'), 'utf8')
    expect(file).toBe('Hold the gate.\nNext.\nAnd last.\n')
  }, 90_000)

  it("a killed owner takes its turn's processes with it, and the run is closed, not run again", async () => {
    const task = await waitingAtTheGate()
    const { run } = await place.ask(['task', 'show', task])
    const owner = await parentOf(run.process_id)
    process.kill(owner, 'SIGKILL')
    const shown = await place.until('the run to be closed', ['task', 'show', task], (now) => {
      return now.run?.result != null
    })
    expect(shown).toMatchObject({ status: 'finished', execution: 'failed' })
    expect(shown.run.result).toMatchObject({ ending: 'owner_process_ended', group_clear: true })
    // Gone, or a zombie that nobody has reaped yet: that has no command line.
    expect(await readFile(`/proc/${run.process_id}/cmdline`, 'utf8').catch(() => '')).toBe('')
    expect(await readFile(join(place.workspace, 'crossing.txt'), 'utf8')).toBe('Hold the gate.\n')
    // The task is at rest and takes the next message.
    await place.onDevice(['device', 'send', task, 'Go on.'])
    await place.until('turn 2 to end', ['task', 'show', task], (now) => {
      return now.earlier?.length === 1 && now.run?.result != null
    })
    expect(await readFile(join(place.workspace, 'crossing.txt'), 'utf8')).toBe('Hold the gate.\nGo on.\n')
  }, 90_000)
})

async function waitingAtTheGate(): Promise<string> {
  const created = ['--workspace', 'demo', '--title', 'At the gate', '--prompt', 'Hold the gate.']
  const { task } = await place.onDevice(['device', 'create', ...created])
  await place.until('the gate to be held', ['task', 'show', task], (now) => now.run?.process_id != null)
  const holds = async () =>
    (await readFile(join(place.workspace, 'crossing.txt'), 'utf8').catch(() => '')) !== ''
  while (!(await holds())) await place.run(['version'])
  return task
}

async function serve(): Promise<Going> {
  const going = place.start(['serve', '--loopback-test', '--log-level', 'warn', '--json'])
  await going.firstLine
  return going
}

/** The process that started `pid`, past the helpers that became it. */
async function parentOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}
