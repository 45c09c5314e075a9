import { Refusal } from '../../protocol/refusal.ts'
import type { Cast, Printed } from './cast.ts'
import { putFile, type Stage } from './stage.ts'

/** Says one line of the story: what happened, and what can be seen of it. */
export type Say = (what: string, seen?: string) => void

/** What the policy runs. The prompt is a file inside the boundary; only its text tells the three turns apart. */
const script = `
prompt=$(cat /run/drawbridge/turn/prompt.txt)
printf '%s\\n' "$prompt" >> crossing.txt
printf 'now: %s\\n' "$prompt"
case $prompt in
  *'hold the gate'*) while [ ! -e gate ]; do sleep 0.05; done; rm gate ;;
  *'all night'*) exec sleep 600 ;;
esac
`
const first = 'Raise the bridge and hold the gate.'
const lamps = 'Light the lamps.'
const boats = 'Count the boats.'
const watch = 'Keep watch all night.'

/** Plays the whole story. Refuses at the first thing that is not as it must be. */
export async function play(stage: Stage, cast: Cast, say: Say): Promise<string> {
  await openHouse(stage, cast, say)
  await letDeviceIn(stage, cast, say)
  const task = await firstTurn(stage, cast, say)
  await arrangeQueue(stage, cast, task, say)
  await laterTurns(stage, cast, task, say)
  await interrupt(stage, cast, task, say)
  return task
}

async function openHouse(stage: Stage, cast: Cast, say: Say): Promise<void> {
  const relay = cast.begin(['relay', '--listen', '127.0.0.1:0', '--json'])
  const { url } = JSON.parse(await relay.firstLine()) as { url: string }
  say('embedded relay', url)
  const home = await cast.ask([
    'init',
    '--create-owner',
    '--loopback-test',
    ...['--relay', url],
    ...['--workspace', `demo=${stage.workspace}`],
  ])
  say('home made', `host ${short(home['host'])}, owner ${short(home['owner'])}`)
  say('workspace demo', 'a linked worktree of a repository made for this')
  const policy = await cast.ask([
    ...['autostart', 'on', '--workspace', 'demo', '--write'],
    ...['--program', '/bin/sh', '--arg', '-c', '--arg', script],
    ...['--wall-seconds', '120', '--memory-mib', '256'],
  ])
  say(
    'policy on',
    `bounded-command ${policy['engine'].program}, pinned ${short(policy['engine'].program_digest.slice(7))}`,
  )
  cast.begin(['serve', '--loopback-test', '--log-level', 'error'])
  const status = await cast.ask(['status', '--wait', '15'])
  say('service ready', `relay ${status['relays'][0].state}`)
}

async function letDeviceIn(stage: Stage, cast: Cast, say: Say): Promise<void> {
  const { code } = await cast.ask(['invite', '--rights', 'standard'])
  say('invitation', 'once, within five minutes')
  const device = await cast.ask(['device', 'redeem', '-', ...onDevice(stage)], `${code}\n`)
  say('device let in', `${short(device['device'])} holds ${device['rights'].join(', ')}`)
}

async function firstTurn(stage: Stage, cast: Cast, say: Say): Promise<string> {
  const asked = ['--workspace', 'demo', '--title', 'The first crossing', '--prompt', first]
  const { task } = await cast.ask(['device', 'create', ...asked, ...onDevice(stage)])
  say('device created a task', `${short(task)}: ${first}`)
  await cast.until('turn 1 to run', ['task', 'show', task], isUp(1))
  say('turn 1 runs', 'admitted by the policy, under bubblewrap')
  return task
}

async function arrangeQueue(stage: Stage, cast: Cast, task: string, say: Say): Promise<void> {
  const on = onDevice(stage)
  const one = await cast.ask(['device', 'queue', task, lamps, ...on])
  const two = await cast.ask(['device', 'queue', task, boats, ...on])
  say('device queued two messages', `${lamps} ${boats}`)
  await cast.ask(['device', 'lease', task, ...on])
  say('device took the queue', 'for a minute')
  await cast.ask(['device', 'reorder', task, two['id'], one['id'], ...on])
  const queue = await cast.ask(['device', 'edit', task, one['id'], watch, ...on])
  const texts = queue['items'].map((item: Printed) => item['text'])
  expect(texts.join('|') === `${boats}|${watch}`, 'the queue is not as it was arranged')
  say('device swapped them and edited one', texts.join(' '))
  await cast.ask(['device', 'release', task, ...on])
  say('device gave the queue back')
}

async function laterTurns(stage: Stage, cast: Cast, task: string, say: Say): Promise<void> {
  await putFile(stage, 'gate')
  const shown = await cast.until('turn 3 to run', ['task', 'show', task], isUp(3))
  const [one, two] = shown['earlier'].map((earlier: Printed) => earlier['run'] ?? earlier)
  expect(one?.result?.ending === 'exit 0', 'turn 1 did not end well')
  say('turn 1 ended', `${one.result.ending}, after ${one.result.elapsed_ms} ms`)
  expect(two?.result?.ending === 'exit 0', 'turn 2 did not end well')
  say('turn 2 ran by itself', `${boats} ${two.result.ending}`)
  say('turn 3 runs', watch)
}

async function interrupt(stage: Stage, cast: Cast, task: string, say: Say): Promise<void> {
  // An interrupt is meant for the turn that the device has seen.
  await cast.ask(['device', 'read', task, ...onDevice(stage)])
  await cast.ask(['device', 'interrupt', task, 'That will do.', ...onDevice(stage)])
  const ended = await cast.until(
    'turn 3 to end',
    ['task', 'show', task],
    (shown) => shown['run']?.result != null,
  )
  const { result } = ended['run']
  expect(ended['execution'] === 'stopped', `turn 3 ended ${ended['execution']}, not stopped`)
  expect(result.group_clear === true, 'a process of turn 3 is left')
  say('device interrupted turn 3', `${ended['execution']}, ${result.ending}, no process left`)
}

/** Whether turn number `turn` has a process. */
function isUp(turn: number): (shown: Printed) => boolean {
  return (shown) => (shown['earlier'] ?? []).length + 1 === turn && shown['run']?.process_id != null
}

/** The options of a command that the device gives. */
export function onDevice(stage: Stage): string[] {
  return ['--state', stage.device, '--loopback-test']
}

function short(hex: string): string {
  return `${hex.slice(0, 8)}…`
}

function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Refusal('io', otherwise)
}
