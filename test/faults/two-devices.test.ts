import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Entry } from '../../src/commands/journal-entry.ts'
import { parseJournal } from '../../src/commands/journal-file.ts'
import { deviceTaskId } from '../../src/protocol/task-id.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore } from '../../src/store/tasks/store.ts'
import { type BridgeStage, bridgeStage } from '../support/bridge-stage.ts'
import { dice } from '../support/dice.ts'
import { type Going, startProgram } from '../support/door.ts'
import { type Asked, handOf, sharedBy } from './at-once/hands.ts'
import { keyOf, textOf, type Waiting } from './at-once/model.ts'
import { type Ending, oneOrder, wordOf } from './at-once/order.ts'

const seeds = (process.env['DRAWBRIDGE_FAULT_SEEDS'] ?? '20261207').split(',').map(Number)
/** Each of two devices is held by two hands, so that four things are asked at any time. */
const askedByEachHand = 250
/** Without these a run would say little. */
const mustHappen = [
  ...['list', 'lease', 'release', 'edit', 'remove', 'reorder', 'send_now'].map((action) => `${action} ok`),
  ...['lease', 'edit', 'remove', 'reorder', 'send_now'].map((action) => `${action} conflict`),
  ...['queue', 'steer', 'interrupt'].map((action) => `${action} ok`),
]

let stage: BridgeStage
let service: Going
afterEach(async () => {
  await service.stop('SIGKILL')
  await stage.end()
})

describe('two devices that change one queue at once', () => {
  it.each(seeds)(
    'are answered as if one had asked after the other, and the disk says the same, with seed %i',
    async (seed) => {
      stage = await bridgeStage()
      const devices = [await stage.device(1_800), await stage.device(1_801)]
      await stage.stop()
      service = startProgram(stage.home, ['serve', '--loopback-test', '--log-level', 'warn', '--json'])
      await service.firstLine
      const [first] = devices
      if (first === undefined) throw new Error('no device')
      const request = 'c'.repeat(64)
      const task = { title: 'Both', prompt: 'Begin.', workspace: 'site' }
      await first.ask({ kind: 'task.create', task }, { request })

      const shared = sharedBy(deviceTaskId(first.key.publicKey, request), dice(seed))
      const hands = await Promise.all(
        [...devices, ...devices].map((peer) => handOf(peer, shared, askedByEachHand)),
      )
      const { code, stderr } = await service.stop()
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })

      const asked = hands.flat()
      const counts = tally(asked)
      process.stdout.write(`\ntwo devices, seed ${seed}: ${JSON.stringify(counts)}\n`)
      expect(mustHappen.filter((what) => counts[what] === undefined)).toEqual([])
      for (const peer of devices) {
        const own = asked.filter(({ device }) => device === peer.key.publicKey)
        expect(own.filter(({ request: id }) => peer.heard(id) !== 1)).toEqual([])
      }
      const found = oneOrder(hands, await endingOf(stage.home))
      if ('stuckAt' in found) expect.unreachable(`no order explains ${JSON.stringify(found.stuckAt)}`)
      expect(found.end.waiting.map(inWords)).toEqual(await heldIn(stage.home))
    },
    120_000,
  )
})

function tally(asked: readonly Asked[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { what, result } of asked) {
    const word = `${'edit' in what ? what.edit.action : what.command.action} ${wordOf(result)}`
    counts[word] = (counts[word] ?? 0) + 1
  }
  return counts
}

async function endingOf(home: string): Promise<Ending> {
  const entries = await journalOf(home)
  const store = await openTaskStore(realDisk, systemClock, join(home, 'tasks'))
  const [task] = await store.list()
  const file = JSON.parse(await readFile(join(home, 'tasks', 'task', `${task?.task_id}.json`), 'utf8'))
  const effects = file.commands
    .map(({ request }: { request: string }) => JSON.parse(request).action)
    .filter(({ type }: { type: string }) => type !== 'submit')
    .map(
      ({ type, prompt, reason }: Record<string, string>) => `${type}: ${type === 'cancel' ? reason : prompt}`,
    )
  const decided = entries.flatMap(({ sender, request, state }): [string, string][] => {
    if (state.state !== 'done') return []
    const word =
      state.outcome === 'rejected' ? state.reason : state.outcome === 'superseded' ? 'stale' : state.outcome
    return [[keyOf(sender.device, request.command), word]]
  })
  return { effects, decided: new Map(decided) }
}

function inWords(one: Waiting): string {
  return `${one.state}${one.promoted === true ? ', sent now' : ''}: ${textOf(one)}`
}

/** The messages that the journal holds, in its order. */
async function heldIn(home: string): Promise<string[]> {
  const entries = await journalOf(home)
  return entries.flatMap(({ state, request, edited, promoted }) => {
    if (state.state === 'done') return []
    const word = state.state === 'held' && state.priority ? 'held first' : state.state
    return [`${word}${promoted === true ? ', sent now' : ''}: ${edited ?? request.text}`]
  })
}

async function journalOf(home: string): Promise<readonly Entry[]> {
  return parseJournal(await readFile(join(home, 'tasks', 'commands.json'))).entries
}
