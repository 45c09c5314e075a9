import { loadFastCrypto } from '../src/protocol/signer.ts'
import { startRelay } from '../src/relay/listen.ts'
import { systemClock } from '../src/seams/clock.ts'
import { systemRandom } from '../src/seams/random.ts'
import type { Answered } from './crew.ts'
import { checkAnswers } from './crew.ts'
import { enrollFleet, type FleetDevice, type Signed } from './fleet.ts'
import { serveInside } from './inside/inside.ts'
import { timed } from './measure.ts'
import { beginDay } from './mix.ts'
import { keysAlone, messagesFor } from './senders-wire.ts'
import { makeHome } from './stage.ts'
import { sayStalls } from './stall.ts'

/**
 * The service is stopped, its devices send a thousand messages for queues, which the relay (in this process) keeps, and
 * the service is started again: from then until the last device has its last answer.
 */
export async function replayOverTheWire(commands: number, devices: number): Promise<void> {
  await loadFastCrypto()
  const { home, port, remove } = await makeHome()
  const served: string[] = []
  const where = { host: '127.0.0.1', port }
  const relay = await startRelay({
    clock: systemClock,
    random: systemRandom,
    ...where,
    serves: () => served,
  })
  let inside = await serveInside(home, 0)
  try {
    served.push(await inside.host())
    const about = { home, host: await inside.host(), relay: relay.url, clock: systemClock }
    const fleet = await enrollFleet(devices, about)
    const tasks = await Promise.all(fleet.map((device) => tasksFor(device)))
    await inside.stop()
    const idle = await timed(async () => {
      inside = await serveInside(home, 0)
    })
    await inside.stop()
    const answers: Answered[] = []
    const sent = fleet.map((device, index) =>
      sendAll(device, queued(device, tasks[index] ?? [], commands / devices), answers),
    )
    const ms = await timed(async () => {
      inside = await serveInside(home, 0, true)
      await Promise.all(sent)
    })
    const stalls = await inside.stalls()
    const { disk } = await inside.usage()
    checkAnswers(answers)
    const alone = (await keysAlone()) * commands
    console.log(
      `replay: ${commands} commands of ${devices} devices, kept by a relay while the service was down`,
    )
    console.log(
      `  from the start of the service to the last answer ${ms.toFixed(0)} ms; ${idle.toFixed(0)} ms to start with nothing to do`,
    )
    console.log(
      `  ${disk.journalWrites} journal writes; verify, open, seal and sign alone ${alone.toFixed(0)} ms: ${((ms - idle) / alone).toFixed(2)} × beside the start`,
    )
    console.log(`  ${sayStalls(stalls)}`)
    for (const device of fleet) device.close()
  } finally {
    await inside.stop()
    await relay.close()
    await remove()
  }
}

/** Two tasks, so that no queue is full. */
async function tasksFor(device: FleetDevice): Promise<string[]> {
  const [first, second] = [await beginDay(device), await beginDay(device)]
  return [first.task, second.task]
}

function queued(device: FleetDevice, tasks: readonly string[], count: number): Signed[] {
  return tasks.flatMap((task, index) =>
    messagesFor(
      device,
      task,
      index === 0 ? Math.ceil(count / tasks.length) : Math.floor(count / tasks.length),
    ),
  )
}

/** All at once. Resolves with the last answer. */
async function sendAll(device: FleetDevice, all: readonly Signed[], answers: Answered[]): Promise<void> {
  await Promise.all(
    all.map(async (signed) => {
      const start = performance.now()
      const text = await device.send(signed)
      answers.push({ device, kind: signed.kind, text, ms: performance.now() - start })
    }),
  )
}
