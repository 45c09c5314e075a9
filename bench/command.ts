import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openDeviceLink } from '../src/device/device-link.ts'
import { openIdentity, readAccess } from '../src/device/identity.ts'
import { signRequest } from '../src/device/request.ts'
import type { Operation } from '../src/protocol/operations.ts'
import type { Outcome } from '../src/protocol/outcomes.ts'
import { loadFastCrypto } from '../src/protocol/signer.ts'
import { nowSeconds, systemClock } from '../src/seams/clock.ts'
import { randomId, systemRandom } from '../src/seams/random.ts'
import { dialRelay } from '../src/seams/ws-relay-socket.ts'
import { realDisk } from '../src/store/disk.ts'
import { cryptoFloor } from './floors/crypto.ts'
import { durableAppend, durableReplace } from './floors/durable.ts'
import { hopsFloor } from './floors/hops.ts'
import { compare, quantile, summary, timed } from './measure.ts'
import { type Stage, setStage } from './stage.ts'

const tasks = 50
const commandsPerTask = 16
const policy = 'loopback_test'

/**
 * One `task.command` over the embedded relay, from the device's signing to its verified reply, in turn with the
 * floor: what the durable writes, the cryptography and the network of that command cannot avoid. Each command steers
 * a queued task, so that it is recorded, applied and answered: the whole critical path.
 */
export async function command(): Promise<void> {
  await loadFastCrypto()
  const stage = await setStage()
  try {
    const ask = await connect(stage)
    const floor = await openFloor(stage)
    const product: number[] = []
    for (let task = 0; task < tasks; task += 1) {
      const reference = await createTask(ask)
      for (let round = 0; round < commandsPerTask; round += 1) {
        const ms = await timed(() => ask(steer(reference, round)))
        if (task > 0) product.push(ms)
        await floor.round(task > 0)
      }
    }
    compare('command: device signs → signed reply verified', product, floor.total, 1.6)
    for (const [part, samples] of Object.entries(floor.parts))
      console.log(`  floor of ${part}  ${summary(samples)}`)
    console.log(`  above the floor  ${(quantile(product, 0.5) - quantile(floor.total, 0.5)).toFixed(3)} ms`)
    floor.close()
  } finally {
    await stage.strike()
  }
}

type Ask = (op: Operation) => Promise<Outcome>

/** Connects the paired device of a stage; what it asks is to be answered well. */
export async function connect(stage: Stage): Promise<Ask> {
  const identity = await openIdentity(realDisk, systemRandom, stage.device)
  const access = await readAccess(realDisk, stage.device, policy)
  if (access === null) throw new Error('the device is not paired')
  const { host, relay } = access.grant
  const seams = { clock: systemClock, random: systemRandom, dial: dialRelay }
  const link = openDeviceLink({ identity, host, relay, policy, ...seams })
  const live = await link.live
  if (!live.ok) throw new Error(live.why)
  return async (op) => {
    const request = randomId(systemRandom)
    const to = { host, relay, grant: access.grant }
    const now = nowSeconds(systemClock)
    const asked = signRequest({ identity, to, op, request, now, policy, random: systemRandom })
    const answer = await link.ask(asked, 10_000)
    if (answer.heard !== 'reply' || answer.result.status !== 'ok') throw new Error(JSON.stringify(answer))
    return answer.result.outcome
  }
}

/** Creates a task that waits, and gives its ID. */
export async function createTask(ask: Ask): Promise<string> {
  const task = { title: 'Measure', prompt: 'Wait for a grant.', workspace: 'bench' }
  const outcome = await ask({ kind: 'task.create', task })
  if (outcome.kind !== 'dispatched') throw new Error('not dispatched')
  return outcome.receipt.reference
}

function steer(task: string, round: number): Operation {
  const issued_at = nowSeconds(systemClock)
  const text = `Correction ${round}: keep the links.`
  const command = { command: randomId(systemRandom), task, action: 'steer' as const, based_on: 1, text }
  return { kind: 'task.command', command: { ...command, emulate: false, issued_at } }
}

/** The floor, with files of the sizes that the service's own have at that moment. */
async function openFloor({ home }: Stage) {
  const [journal, taskFile, identities] = [
    Buffer.alloc(65_536, 'j'),
    Buffer.alloc(8_192, 't'),
    Buffer.alloc(180, 'i'),
  ]
  const log = await open(join(home, 'floor.log'), 'a', 0o600)
  const crypto = await cryptoFloor(1_000)
  const hops = await hopsFloor(1_900)
  const parts: Record<string, number[]> = { disk: [], crypto: [], hops: [] }
  const total: number[] = []
  return {
    total,
    parts,
    async round(counted: boolean) {
      const size = await stat(join(home, 'tasks', 'commands.json')).catch(() => ({ size: 4_096 }))
      const bytes = Buffer.concat([journal, journal, journal, journal]).subarray(0, size.size)
      const disk = await timed(async () => {
        await durableReplace(home, 'floor-journal', bytes)
        await durableAppend(log, identities)
        await durableReplace(home, 'floor-task', taskFile)
      })
      const keys = await timed(crypto)
      const network = await timed(hops.roundTrip)
      if (!counted) return
      parts['disk']?.push(disk)
      parts['crypto']?.push(keys)
      parts['hops']?.push(network)
      total.push(disk + keys + network)
    },
    close: hops.close,
  }
}
