import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { loadFastCrypto } from '../src/protocol/signer.ts'
import { systemClock } from '../src/seams/clock.ts'
import { recordTurn } from '../test/support/turn-elsewhere.ts'
import { type Answered, checkAnswers, everyone } from './crew.ts'
import { enrollFleet, type FleetDevice } from './fleet.ts'
import { answerFloor } from './floors/crypto.ts'
import { type Inside, serveInside } from './inside/inside.ts'
import { quantile, summary, timed } from './measure.ts'
import { beginDay, type Day } from './mix.ts'
import { makeHome } from './stage.ts'

const pairs = 4
const each = 100
const slowMs = 5_000
const traceBytes = 60 * 1_048_576

/** A device that asks for something slow, again and again while others work. */
interface Slow {
  readonly name: string
  begin(): Promise<void>
  end(): Promise<void>
}

/**
 * What others wait for their answers while one device's read of a task takes its time: once because the disk takes five
 * seconds over that file, once because the trace is as large as traces get. Work without it and with it take turns.
 */
export async function isolation(): Promise<void> {
  await loadFastCrypto()
  const { home, port, remove } = await makeHome()
  const inside = await serveInside(home, port)
  try {
    const relay = `ws://127.0.0.1:${port}`
    const fleet = await enrollFleet(9, { home, host: await inside.host(), relay, clock: systemClock })
    const days: Day[] = []
    for (const device of fleet) days.push(await beginDay(device))
    const [reader, ...others] = fleet
    const [readersDay, ...othersDays] = days
    if (reader === undefined || readersDay === undefined) throw new Error('nobody is there')
    await recordTurn(home, readersDay.task)
    const trace = join(home, 'tasks', `${readersDay.task}.1.atif.jsonl`)
    const read = { reader, task: readersDay.task }
    await writeTrace(trace, 10_000)
    await compared(others, othersDays, read, slowDisk(inside))
    await writeTrace(trace, traceBytes)
    await compared(others, othersDays, read, largeTrace())
    for (const device of fleet) device.close()
  } finally {
    await inside.stop()
    await remove()
  }
}

/** The disk takes its time over trace files. */
function slowDisk(inside: Inside): Slow {
  return {
    name: `a read that the disk takes ${slowMs / 1000} s over`,
    begin: () => inside.slow('atif', slowMs),
    end: () => inside.slow(null, 0),
  }
}

function largeTrace(): Slow {
  const nothing = async () => {}
  return { name: `a read of a trace of ${traceBytes / 1_048_576} MiB`, begin: nothing, end: nothing }
}

async function compared(
  others: readonly FleetDevice[],
  days: readonly Day[],
  { reader, task }: { reader: FleetDevice; task: string },
  slow: Slow,
): Promise<void> {
  const alone: Answered[] = []
  const beside: Answered[] = []
  const reads: number[] = []
  const floor: number[] = []
  const verified = await answerFloor(700, 1_500)
  const work = async (into: Answered[]) => {
    await Promise.all(others.map((device) => device.reconnect()))
    const ahead = days.map((day) => Array.from({ length: each }, () => day.nextLook()))
    into.push(...(await everyone(others, ahead)))
  }
  for (let pair = 0; pair < pairs; pair += 1) {
    await work(alone)
    for (let time = 0; time < 100; time += 1) floor.push(await timed(verified))
    await slow.begin()
    let working = true
    const reading = (async () => {
      while (working) reads.push(await timed(() => reader.send(reader.sign(readOf(task)))))
    })()
    await work(beside)
    working = false
    await slow.end()
    await reading
  }
  checkAnswers([...alone, ...beside])
  const msOf = (answers: Answered[]) => answers.map(({ ms }) => ms)
  const ratio = quantile(msOf(beside), 0.5) / quantile(msOf(alone), 0.5)
  console.log(`isolation: ${others.length} devices beside ${slow.name}`)
  console.log(`  the slow read  ${summary(reads)}`)
  console.log(`  others alone   ${summary(msOf(alone))}`)
  console.log(`  others beside  ${summary(msOf(beside))}`)
  console.log(`  ratio of medians ${ratio.toFixed(3)} × (target ≤ 1.100 ×)`)
  console.log(`  verify, open, seal and sign alone ${quantile(floor, 0.5).toFixed(3)} ms`)
}

function readOf(task: string) {
  const query = { workspace: 'bench', task, revision: null, cursor: null, limit: 32 }
  return { kind: 'task.read' as const, query }
}

/** A trace of about so many bytes, of short lines, the costliest kind. */
async function writeTrace(path: string, size: number): Promise<void> {
  const at = 1_795_000_000_000
  const session = { id: 'one', model: 'none', door: 'bounded-command', repository: '/srv', version: '0.1.0' }
  const file = await open(path, 'w', 0o600)
  await file.write(`${JSON.stringify({ record: 'session', schema_version: 'ATIF-v1.8', at, session })}\n`)
  const step = { at, source: 'System', message: 'x'.repeat(200), extensions: { stream: 'stdout', offset: 1 } }
  const block = `${JSON.stringify({ record: 'step', step })}\n`.repeat(10)
  for (let bytes = 0; bytes + block.length < size; bytes += block.length) await file.write(block)
  await file.write(`${JSON.stringify({ record: 'end', at, state: 'ended' })}\n`)
  await file.close()
}
