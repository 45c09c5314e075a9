import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { loadFastCrypto } from '../src/protocol/signer.ts'
import { systemClock } from '../src/seams/clock.ts'
import { type Answered, checkAnswers, everyone, mediansByKind } from './crew.ts'
import { enrollFleet, type FleetDevice, type Signed } from './fleet.ts'
import { answerFloor } from './floors/crypto.ts'
import { durableAppend, durableReplace } from './floors/durable.ts'
import { type Inside, serveInside } from './inside/inside.ts'
import type { Shares } from './inside/profile.ts'
import { quantile, summary, timed } from './measure.ts'
import { beginDay, type Day } from './mix.ts'
import { makeHome } from './stage.ts'

const rounds = 3
/**
 * Requests of a round for so many devices. The relay takes a thousand at once from one connection, a device may create
 * sixty tasks an hour, and a home has room for two thousand changes of tasks: so each load has a home of its own.
 */
const loads = [
  { devices: 1, each: 800 },
  { devices: 8, each: 200 },
  { devices: 64, each: 40 },
]
/** The load that is looked into. */
const sampled = 8

/** A service, the devices that it knows, and what they are about to do. */
interface Scene {
  readonly inside: Inside
  readonly fleet: readonly FleetDevice[]
  readonly days: readonly Day[]
  readonly each: number
}

/**
 * Mixed requests answered in a second by a real service over its embedded relay, from devices that each send the next
 * when the last was answered, all signed ahead; what that costs in processor time beside what it cannot avoid; and what
 * the time goes into, from a profile.
 */
export async function requests(): Promise<void> {
  await loadFastCrypto()
  for (const { devices, each } of loads) {
    const { home, port, remove } = await makeHome()
    const inside = await serveInside(home, port)
    try {
      const relay = `ws://127.0.0.1:${port}`
      const fleet = await enrollFleet(devices, { home, host: await inside.host(), relay, clock: systemClock })
      const days: Day[] = []
      for (const device of fleet) days.push(await beginDay(device))
      const scene = { inside, fleet, days, each }
      const floors = await openFloors(home)
      await answered(scene, floors)
      await floors.close()
      if (devices === sampled) await whereTimeGoes(scene)
      for (const device of fleet) device.close()
    } finally {
      await inside.stop()
      await remove()
    }
  }
}

/** Connects everyone anew and signs so many requests for each. */
async function signedAhead({ fleet, days }: Scene, each: number): Promise<Signed[][]> {
  await Promise.all(fleet.map((device) => device.reconnect()))
  return days.map((day) => Array.from({ length: each }, () => day.next()))
}

async function answered(scene: Scene, floors: Floors): Promise<void> {
  const { inside, fleet, each } = scene
  const devices = fleet.length
  const total = devices * each
  const answers: Answered[] = []
  const perSecond: number[] = []
  const cpu: number[] = []
  const floor: number[] = []
  const writes: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const ahead = await signedAhead(scene, each)
    const before = await inside.usage()
    const ms = await timed(async () => answers.push(...(await everyone(fleet, ahead))))
    const after = await inside.usage()
    perSecond.push((total * 1000) / ms)
    cpu.push((after.cpuMs - before.cpuMs) / total)
    writes.push((after.disk.writes - before.disk.writes) / total)
    floor.push(await floors.answer())
  }
  const [mid, work, least] = [quantile(perSecond, 0.5), quantile(cpu, 0.5), quantile(floor, 0.5)]
  console.log(`requests: ${devices} device${devices === 1 ? '' : 's'}, ${rounds} rounds of ${total}`)
  console.log(`  answered ${mid.toFixed(0)} a second (${perSecond.map((one) => one.toFixed(0)).join(', ')})`)
  checkAnswers(answers)
  console.log(`  sent → answered  ${summary(answers.map((answer) => answer.ms))}`)
  console.log(`  medians in ms    ${mediansByKind(answers)}`)
  console.log(
    `  processor ${work.toFixed(2)} ms a request; verify, open, seal and sign alone ${least.toFixed(2)} ms`,
  )
  console.log(
    `  ratio ${(work / least).toFixed(2)} ×; durable writes ${quantile(writes, 0.5).toFixed(2)} a request`,
  )
  console.log(`  floors now: ${await floors.say()}`)
}

/** A profile of one round, and the calls of another: counting them slows everything down. */
async function whereTimeGoes(scene: Scene): Promise<void> {
  const { inside, fleet, each } = scene
  const run = (ahead: Signed[][]) => async () => checkAnswers(await everyone(fleet, ahead))
  const total = fleet.length * each
  const before = (await inside.usage()).disk
  say(await inside.profiled(run(await signedAhead(scene, each))), total)
  const after = (await inside.usage()).disk
  const waited = (after.writeMs - before.writeMs) / total
  console.log(`  waiting for the disk, several at once: ${waited.toFixed(2)} ms a request`)
  const few = 50
  const counts = await inside.counted(run(await signedAhead(scene, few)))
  console.log('  calls a request, host and relay together:')
  for (const name of watchedCalls) {
    const calls = (counts[name] ?? 0) / (few * fleet.length)
    console.log(`    ${name.padEnd(34)} ${calls.toFixed(2)}`)
  }
}

const watchedCalls = [
  'signer.ts verifyEvent',
  'signer.ts sign',
  'known-signatures.ts isKnownSignature',
  'nip44.ts decryptToBytes',
  'nip44.ts encrypt',
  'nip44.ts conversationKey',
  'strict-json.ts parseStrictJson',
]

function say(shares: Shares, total: number): void {
  const { idle = 0, ...busy } = shares
  const all = Object.values(busy).reduce((sum, ms) => sum + ms, 0)
  console.log(`where ${(all / total).toFixed(2)} ms of processor time a request go (8 devices, sampled):`)
  for (const [part, ms] of Object.entries(busy).sort(([, one], [, other]) => other - one))
    console.log(
      `  ${part.padEnd(30)} ${((100 * ms) / all).toFixed(1).padStart(5)} %  ${(ms / total).toFixed(3)} ms`,
    )
  console.log(`  idle ${((100 * idle) / (all + idle)).toFixed(0)} % of the time`)
}

interface Floors {
  /** Milliseconds of one verify, decrypt, encrypt and sign, the median of many. */
  answer(): Promise<number>
  say(): Promise<string>
  close(): Promise<void>
}

async function openFloors(home: string): Promise<Floors> {
  const answer = await answerFloor(700, 1_500)
  const log = await open(join(home, 'floor.log'), 'a', 0o600)
  const median = async (times: number, work: () => unknown) => {
    const samples: number[] = []
    for (let time = 0; time < times; time += 1) samples.push(await timed(work))
    return quantile(samples, 0.5)
  }
  return {
    answer: () => median(200, answer),
    async say() {
      const append = await median(50, () => durableAppend(log, Buffer.alloc(1_024)))
      const replace = await median(50, () => durableReplace(home, 'floor', Buffer.alloc(8_192)))
      return `durable append ${append.toFixed(2)} ms, durable replacement ${replace.toFixed(2)} ms`
    },
    close: () => log.close(),
  }
}
