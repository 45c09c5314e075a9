import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandKind, CommandRequest, Sender } from '../src/commands/journal-entry.ts'
import { type CommandDesk, mint, openCommandDesk, senders } from './command-desk.ts'
import { durableAppend, durableReplace } from './floors/durable.ts'
import { quantile, timed } from './measure.ts'
import { replayOverTheWire } from './replay-wire.ts'
import { type Stalls, sayStalls, watchStalls, worstOf } from './stall.ts'

const commands = 1_000
const devices = 8
const tasks = Array.from({ length: 20 }, (_, index) => `task-${index}`)
const rounds = 5
const taskFileBytes = 24_576
const journalBytesEach = 500

/**
 * A thousand commands of eight devices for twenty tasks, all at once after an outage, until the last has heard what
 * became of it: new ones that are held, new ones that are applied, and the same once more, as devices ask that never
 * heard the answer; then over the wire, where a relay kept them.
 *
 * The floor of those that are held is two durable replacements of the journal: the first command's write, and that of
 * all the others, which share it. Those that are applied also need an append to the log of command IDs and a durable
 * replacement of a task's file each, one after the other in a task, and the tasks beside each other.
 */
export async function replay(): Promise<void> {
  for (const kind of ['queue', 'steer'] as const) await measured(kind)
  await replayOverTheWire(commands, devices)
}

async function measured(kind: CommandKind): Promise<void> {
  const fresh: number[] = []
  const again: number[] = []
  const floor: number[] = []
  const writes: number[] = []
  const stalls: Stalls[] = []
  for (let round = 0; round < rounds; round += 1) {
    const desk = await openCommandDesk(tasks)
    const all = outage(kind)
    floor.push(await timed(() => leastWrites(desk, kind)))
    const before = desk.writes()
    const watched = await watchStalls()
    fresh.push(await timed(() => everything(desk, all)))
    stalls.push(await watched())
    writes.push(desk.writes() - before)
    again.push(await timed(() => everything(desk, all)))
    await desk.strike()
  }
  const median = (samples: readonly number[]) => quantile(samples, 0.5)
  const what = kind === 'queue' ? 'held' : 'applied'
  console.log(`replay: ${commands} commands at once, ${what}, ${rounds} rounds`)
  console.log(
    `  to the last disposition ${say(fresh)}, ${median(writes)} journal writes; floor ${say(floor)}`,
  )
  console.log(`  ratio of medians ${(median(fresh) / median(floor)).toFixed(2)} ×`)
  console.log(`  the same ${commands} again, all known: ${say(again)}`)
  console.log(`  ${sayStalls(worstOf(stalls))}`)
}

/** `123 ms (120–150)` */
function say(samples: readonly number[]): string {
  const ms = (share: number) => quantile(samples, share).toFixed(0)
  return `${ms(0.5)} ms (${ms(0)}–${ms(1)})`
}

interface Sent {
  readonly sender: Sender
  readonly request: CommandRequest
}

function outage(kind: CommandKind): Sent[] {
  return senders(devices).flatMap((sender) =>
    Array.from({ length: commands / devices }, (_, index) => ({
      sender,
      request: mint(tasks[index % tasks.length] ?? '', kind),
    })),
  )
}

async function everything(desk: CommandDesk, all: readonly Sent[]): Promise<void> {
  const states = await Promise.all(all.map(({ sender, request }) => desk.commands.record(sender, request)))
  for (const state of states)
    if (state.state === 'done' ? state.outcome !== 'applied' : state.state !== 'held')
      throw new Error(JSON.stringify(state))
}

async function leastWrites({ dir }: CommandDesk, kind: CommandKind): Promise<void> {
  await durableReplace(dir, 'floor-journal', Buffer.alloc(journalBytesEach))
  await durableReplace(dir, 'floor-journal', Buffer.alloc(journalBytesEach * commands))
  if (kind !== 'steer') return
  const log = await open(join(dir, 'floor.log'), 'a', 0o600)
  await durableAppend(log, Buffer.alloc(180 * commands))
  await log.close()
  const each = commands / tasks.length
  await Promise.all(
    tasks.map(async (task) => {
      for (let write = 0; write < each; write += 1)
        await durableReplace(dir, `floor-${task}`, Buffer.alloc(taskFileBytes))
    }),
  )
}
