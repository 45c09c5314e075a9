import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place } from '../support/door.ts'

/**
 * Says its prompt, and after a while, just before it ends, what it is about. The first turn gives a busy machine the
 * time to queue two messages and to start following.
 */
const prompt = '/run/drawbridge/turn/prompt.txt'
const script = `cat ${prompt}; grep -q One ${prompt} && sleep 8; sleep 0.5; echo RESULT; echo ERR >&2`

let place: Place

beforeEach(async () => {
  place = await makePlace()
  await place.ask(['init', '--create-owner', '--workspace', `demo=${place.workspace}`, '--loopback-test'])
  const terms = ['--program', '/bin/sh', '--arg', '-c', '--arg', script, '--memory-mib', '256']
  await place.ask(['autostart', 'on', '--workspace', 'demo', ...terms])
  await place.start([
    ...['serve', '--embedded-relay', '127.0.0.1:0', '--loopback-test'],
    ...['--log-level', 'silent', '--json'],
  ]).firstLine
  const { code } = await place.ask(['invite'])
  await place.onDevice(['device', 'redeem', '-'], { input: code })
})
afterEach(() => place.leave())

const reading = ['device', 'read']
const here = () => ['--state', place.device, '--loopback-test']

/** A task with two messages waiting behind its first turn. */
async function threeTurns(): Promise<string> {
  const words = ['--workspace', 'demo', '--title', 'Three', '--prompt', 'One.']
  const { task } = await place.onDevice(['device', 'create', ...words])
  await place.onDevice(['device', 'queue', task, 'Two.'])
  await place.onDevice(['device', 'queue', task, 'Three.'])
  return task
}

/** What a turn that is read to its end says, from its prompt on. */
const whole = (prompt: string) => ({ prompt, out: `${prompt}RESULT\n`, err: 'ERR\n', ending: 'exit 0' })

describe('following a task while its turns follow each other', () => {
  it('a device hears every turn to its end, and the operator the turn that was running', async () => {
    const task = await threeTurns()
    const device = place.start([...reading, task, '--follow', '--json', ...here()])
    const operator = place.start(['task', 'follow', task, '--json'])
    expect(JSON.parse(await operator.firstLine)).toMatchObject({ message: 'One.' })

    const local = await operator.ended
    expect([local.code, local.stderr]).toEqual([0, ''])
    const steps = lines(local.stdout)
    expect(steps.map((step) => step.step_id)).toEqual(steps.map((_, index) => index + 1))
    expect(steps.at(-1).extra.result.ending).toBe('exit 0')
    expect(steps.map((step) => step.message).join('')).toContain('RESULT\n')

    const far = await device.ended
    expect([far.code, far.stderr]).toEqual([0, ''])
    const seen = lines(far.stdout)
    expect([1, 2, 3].map((turn) => saidIn(seen, turn))).toEqual(['One.', 'Two.', 'Three.'].map(whole))
    expect(seen.map((step) => step.turn)).toEqual(seen.map((step) => step.turn).sort())

    // Every turn can be read afterwards, and a person is told how it ended.
    const again = await place.onDevice([...reading, task, '--turn', '1'])
    expect(again).toMatchObject({ turn: 3, evidence: 'sealed' })
    expect(again.steps).toEqual(seen.filter((step) => step.turn === 1))
    const text = await place.run([...reading, task, '--turn', '2', ...here()])
    expect(text.stdout).toMatch(/\nturn +2 of 3\n/)
    expect(text.stdout).toMatch(/ended.* \(exit 0\)\n$/)
    const none = await place.run([...reading, task, '--turn', '4', '--json', ...here()])
    expect([none.code, none.stdout, JSON.parse(none.stderr).error.code]).toEqual([1, '', 'stale'])
  }, 60_000)

  it('a person who follows a turn that waits is told so, and sees it when it runs', async () => {
    await place.ask(['autostart', 'off'])
    const words = ['--workspace', 'demo', '--title', 'Later', '--prompt', 'Wait.']
    const { task } = await place.onDevice(['device', 'create', ...words])
    const operator = place.start(['task', 'follow', task])
    const device = place.start([...reading, task, '--follow', ...here()])
    expect(await operator.firstWarning).toBe('turn 1 has not started; waiting for it')
    expect(await device.firstWarning).toMatch(/^turn 1 has not started/)
    const grant = `${place.base}/grant.json`
    const terms = ['--program', '/bin/sh', '--arg', '-c', '--arg', 'sleep 1; echo at last']
    await place.ask(['grant', 'new', task, ...terms, '--memory-mib', '256', '--out', grant])
    await place.ask(['task', 'execute', '--grant', grant])
    const [local, far] = await Promise.all([operator.ended, device.ended])
    expect(local.code, local.stderr).toBe(0)
    expect(local.stdout).toContain('at last\n')
    expect(far.code, far.stderr).toBe(0)
    expect(far.stdout).toContain('at last\n')
    expect(far.stdout).toContain('(exit 0)\n')
  }, 60_000)
})

// biome-ignore lint/suspicious/noExplicitAny: output of the product, looked at by name
function lines(text: string): any[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

// biome-ignore lint/suspicious/noExplicitAny: output of the product, looked at by name
function saidIn(steps: readonly any[], turn: number): ReturnType<typeof whole> {
  const mine = steps.filter((step) => step.turn === turn)
  const from = (stream: string) =>
    mine
      .filter((step) => step.stream === stream)
      .map((step) => step.text)
      .join('')
  return { prompt: mine[0]?.text, out: from('stdout'), err: from('stderr'), ending: mine.at(-1)?.ending }
}
