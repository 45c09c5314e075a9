import type { Device, Sent } from '../../device/device.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { Door } from '../door.ts'
import { type Answer, localTime, table } from '../output.ts'
import { jsonLine, printable } from '../printable.ts'
import { type DeviceChoices, withDevice } from './open.ts'
import { refusalOf, standing } from './standing.ts'
import { goingOn } from './stay.ts'

/**
 * What was sent and how it stands, after what is still unknown was sent again. With `follow` it stays until everything
 * is decided, and prints each entry when it is: one that the host refused is refused then, and an end before that is
 * `interrupted`.
 */
export async function outbox(
  door: Door,
  choices: DeviceChoices & { follow?: true | undefined },
): Promise<Answer | null> {
  if (choices.follow === true) return withDevice(door, choices, (device) => followOutbox(door, device))
  const sends = await withDevice(door, choices, (device) => device.flush())
  if (sends.length === 0) return { json: { sends }, text: 'nothing was sent\n' }
  const rows = sends.map((sent) => [
    localTime(sent.queued_at),
    sent.task.slice(0, 12),
    sent.kind,
    sent.id.slice(0, 12),
    standing(sent),
  ])
  return { json: { sends }, text: table(['queued', 'task', 'kind', 'id', 'stands'], rows) }
}

async function followOutbox(door: Door, device: Device): Promise<null> {
  const going = goingOn(door)
  const before = await device.outbox()
  const told = new Set(before.filter(isDecided).map(({ id }) => id))
  if (!door.json) door.err(`${waitingWords(waitingOf(before))} for an answer\n`)
  let last: Extract<Sent, { state: 'refused' }> | null = null
  let waiting = waitingOf(before)

  const look = async (): Promise<void> => {
    const sends = await device.outbox()
    for (const sent of sends) {
      if (!isDecided(sent) || told.has(sent.id)) continue
      told.add(sent.id)
      if (sent.state === 'refused') last = sent
      going.guard(() => door.out(door.json ? jsonLine(sent) : `${lineOf(sent)}\n`))
    }
    waiting = waitingOf(sends)
    if (waiting === 0) going.stop()
  }
  let looking: Promise<void> = look()
  const sent = (): void => {
    looking = looking.then(look)
  }
  await device.stay({ sent }, going.signal)
  await looking
  going.check()
  if (going.interrupted() && waiting > 0) throw stillWaiting(waiting)
  if (last !== null) throw refusalOf(last)
  return null
}

function isDecided({ state }: Sent): boolean {
  return state !== 'unknown'
}

function waitingOf(sends: readonly Sent[]): number {
  return sends.filter((sent) => !isDecided(sent)).length
}

function waitingWords(count: number): string {
  if (count === 0) return 'nothing waits'
  return count === 1 ? 'one send waits' : `${count} sends wait`
}

function lineOf(sent: Sent): string {
  return printable(
    `${sent.kind} ${sent.id.slice(0, 12)} of task ${sent.task.slice(0, 12)}: ${standing(sent)}`,
  )
}

function stillWaiting(count: number): Refusal {
  const what = count === 1 ? 'one send is' : `${count} sends are`
  return new Refusal('interrupted', `interrupted: ${what} kept in the outbox, still unknown`, {
    hint: 'drawbridge device outbox --follow goes on',
  })
}
