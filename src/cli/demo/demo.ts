import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemBackend } from '../../host/boundary/backend.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { pause } from '../../seams/clock.ts'
import type { Door } from '../door.ts'
import { colours } from '../output.ts'
import { printable, printableBlock } from '../printable.ts'
import { type Cast, gatherCast, type Printed } from './cast.ts'
import { type Stage, setStage, strike } from './stage.ts'
import { onDevice, play } from './story.ts'

const endTries = 50
const endEveryMs = 200

/**
 * Plays the whole story in a temporary home, with children of this same command line only, and leaves no process
 * and no file behind, whatever happens. Refuses at the first thing that is not as it must be; `interrupted` at
 * Ctrl-C.
 */
export async function demo(door: Door): Promise<null> {
  door.refuseRoot()
  const interrupted = door.stopped().then(() => {
    throw new Refusal('interrupted', 'interrupted; everything is put away')
  })
  const startedMs = door.clock.nowMs()
  // A machine that cannot run turns says so now, not when the first one does not start.
  await systemBackend()
  const stage = await setStage()
  const cast = gatherCast(stage, door.clock)
  const playing = playAndShow(door, stage, cast)
  try {
    await Promise.race([playing, interrupted])
  } finally {
    playing.catch(() => undefined)
    await putAway(door, stage, cast)
  }
  const seconds = ((door.clock.nowMs() - startedMs) / 1000).toFixed(1)
  say(door, 'everything is put away', `${seconds} s`)
  return null
}

async function playAndShow(door: Door, stage: Stage, cast: Cast): Promise<void> {
  const task = await play(stage, cast, (what, seen) => say(door, what, seen))
  const read = await cast.ask(['device', 'read', task, ...onDevice(stage)])
  show(
    door,
    'Transcript of the last turn, as the device sees it',
    read['steps']
      .filter((step: Printed) => step['text'] !== '')
      .map(stepLine)
      .join(''),
  )
  const { commands } = await cast.ask(['commands', 'list', task])
  show(door, 'History of the queue', commands.map(commandLine).join(''))
  const file = await readFile(join(stage.workspace, 'crossing.txt'), 'utf8')
  show(door, 'crossing.txt in the workspace', file)
  const wanted = 'Raise the bridge and hold the gate.\nCount the boats.\nKeep watch all night.\n'
  if (file !== wanted) throw new Refusal('io', 'the file is not what the three turns should have left')
}

/** Ends what runs, in the order in which nothing can start again; then removes the files. */
async function putAway(door: Door, stage: Stage, cast: Cast): Promise<void> {
  try {
    await cast.close()
    await cast.tidy(['autostart', 'off'])
    await cast.stop()
    await endTurns(door, cast)
  } finally {
    await strike(stage)
  }
}

/** A turn's owner outlives the service by design, so what still runs is cancelled and waited for. */
async function endTurns(door: Door, cast: Cast): Promise<void> {
  for (let tries = 0; tries < endTries; tries += 1) {
    const tasks = ((await cast.tidy(['task', 'list'])) ?? []) as readonly Printed[]
    const running = tasks.filter((task) => task['run'] !== undefined && task['run'].result === null)
    if (running.length === 0) return
    for (const task of running.filter((one) => one['status'] === 'running')) {
      const command = {
        schema: 'openagents.coder.task-command.v1',
        command_id: `demo-end-${task['revision']}`,
        task_id: task['task_id'],
        expected_revision: task['revision'],
        action: { type: 'cancel', reason: 'the demo is over' },
      }
      await cast.tidy(['task', 'cancel', '--file', '-'], JSON.stringify(command))
    }
    await pause(door.clock, endEveryMs)
  }
}

function say(door: Door, what: string, seen = ''): void {
  if (door.json) door.out(`${JSON.stringify({ step: what, seen })}\n`)
  else door.out(`${what.padEnd(36)} ${colours.dim(printable(seen))}`.trimEnd().concat('\n'))
}

function show(door: Door, title: string, block: string): void {
  if (door.json) door.out(`${JSON.stringify({ show: title, text: block })}\n`)
  else door.out(`\n${colours.bold(title)}\n${printableBlock(block).replace(/^(?=.)/gm, '  ')}\n`)
}

function stepLine(step: Printed): string {
  return `${String(step['stream'] ?? step['role']).padEnd(7)} ${String(step['text']).trimEnd()}\n`
}

function commandLine(entry: Printed): string {
  const { kind, text } = entry['request']
  const said = entry['edited'] === undefined ? text : `${entry['edited']} (was: ${text})`
  return `${kind.padEnd(9)} ${entry['state'].outcome ?? entry['state'].state}  ${said}\n`
}
