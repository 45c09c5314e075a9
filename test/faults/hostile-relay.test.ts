import { afterEach, describe, expect, it } from 'vitest'
import { dice } from '../support/dice.ts'
import {
  answeredTwice,
  createTasks,
  drawCommands,
  giveAll,
  journalOf,
  standingIn,
  standingOf,
  tasksOf,
} from './hostile-commands.ts'
import { type HostileStage, hostileStage } from './hostile-stage.ts'
import { intrudersFor } from './intruders.ts'
import { everything, faultKinds } from './relay-faults.ts'

const seeds = (process.env['DRAWBRIDGE_FAULT_SEEDS'] ?? '20261207').split(',').map(Number)
const commandsMax = Number(process.env['DRAWBRIDGE_FAULT_COMMANDS'] ?? 2_000)
const devicesCount = 3
const tasksEach = 4

let stage: HostileStage
afterEach(() => stage.end())

describe('under every fault of a relay at once', () => {
  it.each(seeds)(
    'each command of three devices has one disposition and its device learns it, with seed %i',
    async (seed) => {
      const startedMs = performance.now()
      stage = await hostileStage(seed)
      await stage.start()
      const devices = [await stage.device(), await stage.device(), await stage.device()]
      stage.relay.intruders = await intrudersFor(stage, devices)
      stage.relay.faults.odds = everything
      stage.clock.hurry()

      const tasks = (await Promise.all(devices.map((device) => createTasks(device, tasksEach)))).flat()
      const draws = dice(seed)
      const each = Math.ceil(commandsMax / devicesCount)
      const given = devices.map((_, index) => drawCommands(draws, tasks, each, `device ${index}`))
      const learned = await Promise.all(devices.map((device, index) => giveAll(device, given[index] ?? [])))

      const { relay, clock } = stage
      const { counters } = await stage.service().status()
      await stage.stop()
      const journal = await journalOf(stage)
      report(stage, {
        seconds: (performance.now() - startedMs) / 1_000,
        aheadMs: clock.aheadMs(),
        counters,
      })

      // Each command is in the journal once, in the order in which its device gave it, and decided as it was told.
      expect(journal).toHaveLength(each * devicesCount)
      for (const [index, { key }] of devices.entries()) {
        const sent = [...(learned[index]?.values() ?? [])]
        const recorded = journal.filter(({ sender }) => sender.device === key)
        expect(recorded.map(({ request }) => request.command)).toEqual(sent.map(({ id }) => id))
        expect(recorded.map(standingOf)).toEqual(sent.map(standingIn))
        expect(recorded.map(({ request }) => request.text)).toEqual(given[index]?.map(({ text }) => text))
      }
      // Nothing was done twice: what the tasks were told is what the applied steers said, once each and in order.
      const told = await tasksOf(stage)
      expect(told.map(({ task_id }) => task_id).sort()).toEqual([...tasks].sort())
      for (const { task_id, corrections = [], revision } of told) {
        const applied = journal.filter(
          ({ request, state }) =>
            request.task === task_id && state.state === 'done' && state.outcome === 'applied',
        )
        expect(corrections.map(({ prompt }) => prompt)).toEqual(applied.map(({ request }) => request.text))
        expect(revision).toBe(1 + applied.length)
      }
      expect(await answeredTwice(stage, devices)).toEqual([])
      expect(stage.errors).toEqual([])
      expect(counters.failed ?? 0).toBe(0)
      expect(faultKinds.filter((kind) => (relay.faults.counts.get(kind) ?? 0) === 0)).toEqual([])
    },
    600_000,
  )
})

/** What the run really met, for whoever reads the output of the tests. */
function report(
  { relay }: HostileStage,
  run: { seconds: number; aheadMs: number; counters: Readonly<Record<string, number>> },
): void {
  const injected = faultKinds.map((kind) => `${kind} ${relay.faults.counts.get(kind) ?? 0}`)
  process.stdout.write(
    `\nhostile relay, seed ${relay.seed}: ${run.seconds.toFixed(1)} s, ${(run.aheadMs / 3_600_000).toFixed(1)} h by its clock\n` +
      `faults: ${injected.join(', ')}\nhost: ${JSON.stringify(run.counters)}\n`,
  )
}
