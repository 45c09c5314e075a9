import { loadFastCrypto } from '../src/protocol/signer.ts'
import { startRelay } from '../src/relay/listen.ts'
import { systemRandom } from '../src/seams/random.ts'
import { everyone } from './crew.ts'
import { enrollFleet } from './fleet.ts'
import { aheadClock } from './inside/ahead-clock.ts'
import { type Inside, serveInside } from './inside/inside.ts'
import type { Usage } from './inside/questions.ts'
import { beginDay, type Day } from './mix.ts'
import { makeHome } from './stage.ts'

const devices = 16
const marks = [10_000, 50_000, 100_000]
/**
 * Of so many requests one changes a task. A change is kept for good, some five kilobytes of it in memory, up to the two
 * thousand that a home has room for: what is looked for here is what requests leave behind.
 */
const lookingFor = 400
const batch = 10

/**
 * The memory of a service after 10,000 and after 100,000 requests, garbage collected, when the answers that it keeps for
 * a minute are over (its clock is set a minute ahead for that). The relay runs in this process: what it keeps is not the
 * service's.
 */
export async function memory(): Promise<void> {
  await loadFastCrypto()
  const { home, port, remove } = await makeHome()
  const clock = aheadClock()
  const where = { host: '127.0.0.1', port }
  const served: string[] = []
  const relay = await startRelay({ clock, random: systemRandom, ...where, serves: () => served })
  const inside = await serveInside(home, 0)
  try {
    const host = await inside.host()
    served.push(host)
    const fleet = await enrollFleet(devices, { home, host, relay: relay.url, clock })
    const days: Day[] = []
    for (const device of fleet) days.push(await beginDay(device))
    const signSome = () =>
      days.map((day) =>
        Array.from({ length: batch }, () => {
          asked += 1
          return asked % lookingFor === 0 ? day.nextChange() : day.nextLook()
        }),
      )
    let asked = 0
    let first: Usage | null = null
    const start = performance.now()
    for (const mark of marks) {
      while (asked < mark) await everyone(fleet, signSome())
      const usage = await settled(inside, async () => {
        clock.aheadMs += 61_000
        await inside.ahead(61_000)
        // A relay ends a connection that it has not heard of for so long.
        for (const device of fleet) await device.reconnect()
        await everyone(fleet, signSome())
      })
      const seconds = (performance.now() - start) / 1000
      console.log(`memory after ${asked} requests (${(asked / seconds).toFixed(0)} a second): ${say(usage)}`)
      first ??= usage
      if (mark === marks.at(-1)) compare(first, usage)
    }
    for (const device of fleet) device.close()
  } finally {
    await inside.stop()
    await relay.close()
    await remove()
  }
}

/** The least of three looks, each after what is kept for a minute was let go and garbage collected. */
async function settled(inside: Inside, letGo: () => Promise<void>): Promise<Usage> {
  const looks: Usage[] = []
  await letGo()
  for (let look = 0; look < 3; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    looks.push(await inside.usage(true))
  }
  return looks.reduce((least, one) => (one.rss < least.rss ? one : least))
}

function compare(before: Usage, after: Usage): void {
  for (const name of ['rss', 'heapUsed'] as const)
    console.log(`  ${name} ${(after[name] / before[name]).toFixed(3)} × (target ≤ 1.10 ×)`)
}

function say({ rss, heapUsed, external, arrayBuffers }: Usage): string {
  const mb = (bytes: number) => (bytes / 1_048_576).toFixed(1)
  return `RSS ${mb(rss)} MiB, heap ${mb(heapUsed)}, external ${mb(external)}, of it buffers ${mb(arrayBuffers)}`
}
