import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Going, makePlace, type Place } from '../support/door.ts'

/** What every turn runs: it notes its prompt, and waits where the prompt says so. */
const script = `
prompt=$(cat /run/drawbridge/turn/prompt.txt)
printf '%s\\n' "$prompt" >> crossing.txt
printf 'now: %s\\n' "$prompt"
case $prompt in
  *gate*) while [ ! -e gate ]; do sleep 0.05; done; rm gate ;;
  *night*) exec sleep 600 ;;
esac
`
const first = 'Raise the bridge and hold the gate.'
const lamps = 'Light the lamps.'
const boats = 'Count the boats.'
const watch = 'Keep watch all night.'

let place: Place

beforeEach(async () => {
  place = await makePlace()
})
afterEach(() => place.leave())

describe('the story by hand', () => {
  it('loses nothing and runs nothing twice when the service is stopped and started in its middle', async () => {
    // A relay, a home, a policy, a service.
    const relay = place.start(['relay', '--listen', '127.0.0.1:0', '--json'])
    const { url } = JSON.parse(await relay.firstLine)
    const home = ['--relay', url, '--workspace', `demo=${place.workspace}`, '--loopback-test']
    const made = await place.ask(['init', '--create-owner', ...home])
    expect(made).toMatchObject({ relays: [url], workspaces: [{ label: 'demo', path: place.workspace }] })
    expect(await place.ask(['init', '--create-owner'])).toEqual(made)
    const terms = ['--program', '/bin/sh', '--arg', '-c', '--arg', script, '--write', '--memory-mib', '256']
    await place.ask(['autostart', 'on', '--workspace', 'demo', ...terms])
    const service = await serve()

    // A device comes in.
    const { code } = await place.ask(['invite'])
    const device = await place.onDevice(['device', 'redeem', '-'], { input: `${code}\n` })
    expect(device).toMatchObject({ host: made.host, owner: made.owner, relay: url, epoch: 0 })
    expect((await place.ask(['devices'])).devices).toMatchObject([{ device: device.device, state: 'active' }])

    // Its task starts by itself, and while it runs the device queues two messages and takes the queue.
    const created = ['--workspace', 'demo', '--title', 'The crossing', '--prompt', first]
    const { task } = await place.onDevice(['device', 'create', ...created])
    await place.until('turn 1 to run', ['task', 'show', task], isUp(1))
    const one = await place.onDevice(['device', 'queue', task, lamps])
    const two = await place.onDevice(['device', 'queue', task, boats])
    expect([one.state, two.state]).toEqual(['accepted', 'accepted'])
    await place.onDevice(['device', 'lease', task])

    // The service stops. The turn goes on; what was held is held.
    const ended = await service.stop('SIGTERM')
    expect(ended.code, ended.stderr).toBe(0)
    expect((await place.run(['status'])).code).toBe(69)
    const meanwhile = await place.ask(['task', 'show', task])
    expect([meanwhile.status, meanwhile.run.result]).toEqual(['running', null])
    expect(states(await place.ask(['commands', 'list', task]))).toEqual(['held', 'held'])

    // And starts again: the same lease still lets the device arrange the queue.
    await serve()
    const listed = await place.onDevice(['device', 'queue-list', task])
    expect(listed.items.map((item: { text: string }) => item.text)).toEqual([lamps, boats])
    expect(listed.lease.device).toBe(device.device)
    await place.onDevice(['device', 'reorder', task, two.id, one.id])
    const edited = await place.onDevice(['device', 'edit', task, one.id, watch])
    expect(edited.items.map((item: { text: string }) => item.text)).toEqual([boats, watch])
    const released = await place.onDevice(['device', 'release', task])
    expect(released.lease).toBeNull()

    // The gate opens: turn 1 ends, 2 and 3 run in the new order.
    await writeFile(join(place.workspace, 'gate'), '')
    await place.until('turn 3 to run', ['task', 'show', task], isUp(3))

    // The device sees turn 3 and interrupts it.
    await place.onDevice(['device', 'read', task])
    await place.onDevice(['device', 'interrupt', task, 'That will do.'])
    const shown = await place.until('turn 3 to end', ['task', 'show', task], (now) => now.run?.result != null)
    expect(shown).toMatchObject({ status: 'finished', execution: 'stopped' })
    expect(shown.run.result).toMatchObject({ stop_requested: true, group_clear: true })
    expect(shown.earlier.map(endingOf)).toEqual(['exit 0', 'exit 0'])

    // Nothing was lost, nothing ran twice.
    const file = await readFile(join(place.workspace, 'crossing.txt'), 'utf8')
    expect(file).toBe(`${first}\n${boats}\n${watch}\n`)
    const { commands } = await place.ask(['commands', 'list', task])
    expect(commands.map((entry: { request: { text: string } }) => entry.request.text)).toEqual([
      boats,
      lamps,
      'That will do.',
    ])
    expect(states({ commands })).toEqual(['applied', 'applied', 'applied'])
    expect(commands[1].edited).toBe(watch)

    // Everybody sees the same.
    const read = await place.onDevice(['device', 'read', task])
    expect(read).toMatchObject({ title: 'The crossing', workspace: 'demo', turn: 3, evidence: 'sealed' })
    expect(read.steps[0]).toMatchObject({ role: 'user', text: watch })
    const view = await place.ask(['task', 'view', task])
    expect(view.evidence).toMatchObject({ state: 'sealed', matches_result: true })
    expect(view.artifacts.changes).toContainEqual({ change: 'modified', path: 'crossing.txt' })
    expect((await place.run(['task', 'list'])).stdout).toContain('The crossing')
    const outbox = await place.onDevice(['device', 'outbox'])
    expect(outbox.sends.map((sent: { state: string }) => sent.state)).toEqual(Array(4).fill('accepted'))
  }, 120_000)
})

async function serve(): Promise<Going> {
  const service = place.start(['serve', '--loopback-test', '--log-level', 'warn', '--json'])
  await service.firstLine
  const { relays, ready } = await place.ask(['status', '--wait', '15'])
  expect([ready, relays[0].state]).toEqual([true, 'live'])
  return service
}

/** Whether turn number `turn` has a process. */
// biome-ignore lint/suspicious/noExplicitAny: output of the product, looked at by name
function isUp(turn: number): (shown: any) => boolean {
  return (shown) => (shown.earlier ?? []).length + 1 === turn && shown.run?.process_id != null
}

// biome-ignore lint/suspicious/noExplicitAny: output of the product, looked at by name
function states(list: any): string[] {
  return list.commands.map((entry: { state: { state: string; outcome?: string } }) => {
    return entry.state.outcome ?? entry.state.state
  })
}

// biome-ignore lint/suspicious/noExplicitAny: output of the product, looked at by name
function endingOf(earlier: any): string {
  return (earlier.run ?? earlier).result.ending
}
