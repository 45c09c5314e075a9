import { loadFastCrypto } from '../src/protocol/signer.ts'
import { systemClock } from '../src/seams/clock.ts'
import { randomId, systemRandom } from '../src/seams/random.ts'
import { checkAnswers, everyone } from './crew.ts'
import { enrollFleet, type FleetDevice, type Signed } from './fleet.ts'
import { answerFloor } from './floors/crypto.ts'
import { serveInside } from './inside/inside.ts'
import { quantile, summary, timed } from './measure.ts'
import { beginDay } from './mix.ts'
import { makeHome } from './stage.ts'
import { sayStalls } from './stall.ts'

const each = 16

/**
 * So many devices that each send a message for the queue of their own task when the last was answered, to a real
 * service over its embedded relay.
 */
export async function sendersOverTheWire(devices: number): Promise<void> {
  await loadFastCrypto()
  const { home, port, remove } = await makeHome()
  const inside = await serveInside(home, port)
  try {
    const relay = `ws://127.0.0.1:${port}`
    const fleet = await enrollFleet(devices, { home, host: await inside.host(), relay, clock: systemClock })
    const tasks: string[] = []
    for (const device of fleet) tasks.push((await beginDay(device)).task)
    await Promise.all(fleet.map((device) => device.reconnect()))
    const ahead = fleet.map((device, index) => messagesFor(device, tasks[index] ?? '', each))
    const before = (await inside.usage()).disk
    let ms = 0
    let answers: Awaited<ReturnType<typeof everyone>> = []
    const stalls = await inside.stalled(async () => {
      ms = await timed(async () => {
        answers = await everyone(fleet, ahead)
      })
    })
    const after = (await inside.usage()).disk
    checkAnswers(answers)
    const total = devices * each
    const shared = total / (after.journalWrites - before.journalWrites)
    console.log(`senders: ${devices} devices over the wire, messages held, ${total} commands`)
    console.log(
      `  ${((1_000 * total) / ms).toFixed(0)} commands a second, ${shared.toFixed(1)} a journal write`,
    )
    console.log(`  sent → answered  ${summary(answers.map((answer) => answer.ms))}`)
    console.log(`  verify, open, seal and sign alone ${(await keysAlone()).toFixed(2)} ms a command`)
    console.log(`  ${sayStalls(stalls)}`)
    for (const device of fleet) device.close()
  } finally {
    await inside.stop()
    await remove()
  }
}

/** Messages for a task's queue, signed ahead. */
export function messagesFor(device: FleetDevice, task: string, count: number): Signed[] {
  return Array.from({ length: count }, () => {
    const issued_at = Math.floor(Date.now() / 1_000)
    const what = { action: 'queue' as const, based_on: 1, text: 'And add a table.', emulate: false }
    return device.sign({
      kind: 'task.command',
      command: { command: randomId(systemRandom), task, ...what, issued_at },
    })
  })
}

/** Milliseconds of one verify, decrypt, encrypt and sign. */
export async function keysAlone(): Promise<number> {
  const answer = await answerFloor(900, 700)
  const samples: number[] = []
  for (let time = 0; time < 200; time += 1) samples.push(await timed(answer))
  return quantile(samples, 0.5)
}
