import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Going, makePlace, type Place } from '../support/door.ts'

let place: Place
let service: Going
let url: string

beforeEach(async () => {
  place = await makePlace()
  const relay = place.start(['relay', '--listen', '127.0.0.1:0', '--json'])
  url = JSON.parse(await relay.firstLine).url
  const home = ['--relay', url, '--workspace', `demo=${place.workspace}`, '--loopback-test']
  await place.ask(['init', '--create-owner', ...home])
  await serve()
  const { code } = await place.ask(['invite'])
  await place.onDevice(['device', 'redeem', '-'], { input: code })
})
afterEach(() => place.leave())

describe('a device that stays', () => {
  it('sends what waited as soon as the host is back, says how it came out, and ends', async () => {
    await service.stop()
    const sent = await create('Later')
    expect([sent.code, JSON.parse(sent.stdout).state]).toEqual([1, 'unknown'])
    const following = place.start(device(['outbox', '--follow', '--json']))
    await serve()
    const ended = await following.ended
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    expect(lines(ended.stdout)).toMatchObject([{ id: JSON.parse(sent.stdout).id, state: 'accepted' }])
    const nothing = await place.run(device(['outbox', '--follow', '--json']))
    expect([nothing.code, nothing.stdout]).toEqual([0, ''])
  }, 240_000)

  it('keeps what is still unknown when a person ends it, and says so', async () => {
    await service.stop()
    await create('Never')
    const following = place.start(device(['outbox', '--follow']))
    expect(await following.firstWarning).toBe('one send waits for an answer')
    const ended = await following.stop('SIGINT')
    expect([ended.code, ended.stdout]).toEqual([130, ''])
    expect(ended.stderr).toMatch(
      /one send is kept in the outbox, still unknown.*\n.*outbox --follow goes on\n$/,
    )
  }, 120_000)

  it('ends with the refusal of the host', async () => {
    await service.stop()
    const words = ['create', '--workspace', 'none', '--title', 'x', '--prompt', 'x', '--json']
    await place.run(device(words))
    const following = place.start(device(['outbox', '--follow', '--json']))
    await serve()
    const ended = await following.ended
    expect(ended.code).toBe(1)
    expect(lines(ended.stdout)).toMatchObject([{ state: 'refused', code: 'forbidden' }])
    expect(JSON.parse(ended.stderr).error.code).toBe('forbidden')
  }, 240_000)

  it('watches how the tasks stand and each change, until a person ends it', async () => {
    const { task } = JSON.parse((await create('Watched')).stdout)
    const watching = place.start(device(['watch', '--json']))
    expect(JSON.parse(await watching.firstLine)).toMatchObject({
      subject: { kind: 'task', id: task },
      phase: 'queued',
      headline: 'Task queued',
      attention: 'none',
    })
    const { task: second } = JSON.parse((await create('Another')).stdout)
    await place.until('the second task', ['task', 'show', second], ({ status }) => status === 'queued')
    // Its summary is on its way; a person's view shows both when it is opened.
    const shown = await untilShown(second)
    expect(shown).toContain('Task queued')
    expect(shown.indexOf(task.slice(0, 12))).toBeLessThan(shown.indexOf(second.slice(0, 12)))
    const ended = await watching.stop('SIGINT')
    expect(ended.code).toBe(130)
    expect(lines(ended.stdout).map(({ subject }) => subject.id)).toEqual([task, second])
    expect(JSON.parse(ended.stderr).error.code).toBe('interrupted')
  }, 120_000)
})

// biome-ignore lint/suspicious/noExplicitAny: output of the product, looked at by name
function lines(text: string): any[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

async function serve(): Promise<void> {
  service = place.start(['serve', '--loopback-test', '--log-level', 'silent', '--json'])
  await service.firstLine
  await place.ask(['status', '--wait', '15'])
}

function create(title: string) {
  return place.run(device(['create', '--workspace', 'demo', '--title', title, '--prompt', 'Wait.', '--json']))
}

function device(words: readonly string[]): string[] {
  return ['device', ...words, '--state', place.device, '--loopback-test']
}

/** What a person's watch shows once it shows this task. */
async function untilShown(task: string): Promise<string> {
  for (let tries = 0; tries < 20; tries += 1) {
    const watching = place.start(device(['watch']))
    await watching.firstLine
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    const { stdout } = await watching.stop('SIGINT')
    if (stdout.includes(task.slice(0, 12))) return stdout
  }
  throw new Error('the task was never shown')
}
