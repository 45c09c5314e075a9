import { standsNow } from '../../src/bridge/access/principal.ts'
import type { EntryState } from '../../src/commands/journal-entry.ts'
import { entryKey } from '../../src/commands/journal-entry.ts'
import { wireResult } from '../../src/commands/wire-result.ts'
import { commandSeconds, decidedKeptSeconds } from '../../src/limits.ts'
import { grantSeconds } from './cast.ts'
import type { OnDisk } from './on-disk.ts'
import { possibleTexts, type Sent, storeId, textsOf } from './sent.ts'
import { nowOf, type World } from './world.ts'

/** Gives what is wrong, or null. */
export type Check = (world: World, disk: OnDisk) => string | null

/** What must hold after every step, whatever is under way. */
export const always = {
  'commands.json always parses': (_, { journal }) => (journal === null ? 'it does not' : null),
  'a command has one effect at most': ({ sent }, { ran }) => find(sent, (one) => timesIn(ran, one) > 1),
  'what a device sends takes effect in its order': (world, { tasks }) => outOfOrder(world, tasks),
  'an acknowledged command is in the journal': (world, { entries }) =>
    find(world.sent, (one) => one.told.length > 0 && !entries.has(keyOf(one)) && !isOld(world, one)),
  'an interrupt never touches a later turn': ({ sent }, { tasks }) =>
    find(sent, (one) => one.request.kind === 'interrupt' && touchesLaterTurn(one, tasks)),
  'a text reaches the engine once': ({ sent, started }) => find(sent, (one) => timesIn(started, one) > 1),
  'a removed message never runs': ({ sent }, { ran }) =>
    find(sent, (one) => one.removed && timesIn(ran, one) > 0),
  'a message runs with its last acknowledged text': ({ sent }, { ran }) =>
    find(sent, (one) => {
      const possible = possibleTexts(one)
      return textsOf(one).some((text) => ran.has(text) && !possible.includes(text))
    }),
  'what was said to be final stays': (world, { entries }) =>
    find(world.sent, (one) => !isOld(world, one) && isTakenBack(one.told, entries.get(keyOf(one))?.state)),
  'what was refused has no effect': (world, disk) =>
    find(
      world.sent,
      (one) => !isOld(world, one) && isRefused(one) && (timesIn(disk.ran, one) > 0 || isInStore(one, disk)),
    ),
  'what was said to be applied is in the store': ({ sent }, disk) =>
    find(sent, (one) => isSaidToBeApplied(one) && !isInStore(one, disk)),
} satisfies Readonly<Record<string, Check>>

/** What must hold as well when nothing is under way and no disk failed. */
export const whenQuiet = {
  'nothing is held while its task has ended': (world, disk) => (world.calm ? stranded(world, disk) : null),
} satisfies Readonly<Record<string, Check>>

/** What must hold as well once everything was delivered, every turn ended and every lease lapsed. */
export const atRest = {
  ...whenQuiet,
  'every device learns one disposition': (world, { entries }) =>
    find(world.sent, (one) => !isOld(world, one) && !isDispositionOf(one, entries.get(keyOf(one))?.state)),
  'every command is decided, or waits for what is not known': ({ sent }, { entries, tasks }) =>
    find(sent, (one) => {
      const entry = entries.get(keyOf(one))
      const isOpen = entry !== undefined && entry.state.state !== 'done'
      return isOpen && tasks.get(one.request.task)?.task.status !== 'unknown'
    }),
  'what the journal says agrees with the store': ({ sent }, disk) => find(sent, (one) => !agrees(one, disk)),
  'no queued message is lost': (world, { entries }) =>
    find(world.sent, (one) => one.told.length > 0 && isLost(world, one, entries.get(keyOf(one))?.state)),
  'queued messages run in the order of the journal': (world, disk) => outOfJournalOrder(world, disk),
} satisfies Readonly<Record<string, Check>>

/** What is checked at the moment of each effect. @see effects.ts */
export const atEffects = [
  'a revoked sender has no effect',
  'no message runs while a device holds the lease',
] as const

export const comesToRest = 'the world comes to rest'

export const invariants: readonly string[] = [
  ...Object.keys(always),
  ...Object.keys(atRest),
  ...atEffects,
  comesToRest,
]

function keyOf({ device, request }: Sent): string {
  return entryKey(device, request.command)
}

function timesIn(counts: ReadonlyMap<string, number>, sent: Sent): number {
  return textsOf(sent).reduce((sum, text) => sum + (counts.get(text) ?? 0), 0)
}

/** Past what the journal keeps: it may be pruned, and then it counts as a command that comes too late. */
function isOld(world: World, { request }: Sent): boolean {
  return nowOf(world) >= request.issued_at + decidedKeptSeconds - 600
}

function isInStore(sent: Sent, { tasks }: OnDisk): boolean {
  const id = storeId(sent)
  return tasks.get(sent.request.task)?.commands.some((command) => command.id === id) === true
}

function isRefused({ told, turnedAway }: Sent): boolean {
  return turnedAway || told.some((state) => !wireResult(state).ok)
}

/** An interrupt is applied as well when its turn's process turned out to be gone. */
function isSaidToBeApplied({ told, request }: Sent): boolean {
  return (
    request.kind !== 'interrupt' &&
    told.some((state) => state.state === 'done' && state.outcome === 'applied')
  )
}

function isTakenBack(told: readonly EntryState[], now: EntryState | undefined): boolean {
  const final = told.find(({ state }) => state === 'done')
  if (final === undefined) return false
  // That it was applied may be written later: the recorded bytes say it again.
  const mayLag = final.state === 'done' && final.outcome === 'applied'
  const since = [...told.slice(told.indexOf(final)), ...(now === undefined ? [] : [now])]
  return since.some(
    (state) => state !== final && !same(state, final) && !(mayLag && state.state === 'dispatching'),
  )
}

function same(one: EntryState, other: EntryState): boolean {
  return JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort())
}

/** Whether the answer a device went by agrees with the journal. Refused as revoked, it was maybe never looked up. */
function isDispositionOf({ answer, turnedAway }: Sent, now: EntryState | undefined): boolean {
  if (answer === null) return false
  if (answer === 'revoked') return true
  if (turnedAway || now === undefined) return turnedAway && now === undefined
  const result = wireResult(now)
  // A message that was accepted may still be refused when its turn comes.
  return answer === 'ok' || (!result.ok && result.code === answer)
}

function touchesLaterTurn(sent: Sent, tasks: OnDisk['tasks']): boolean {
  const commands = tasks.get(sent.request.task)?.commands ?? []
  const id = storeId(sent)
  const cancel = commands.findIndex((command) => command.id === id)
  if (cancel < 0) return false
  if (commands[cancel]?.type !== 'cancel') return true
  const begun = commands.slice(0, cancel).filter(({ type }) => type === 'continue')
  return sent.request.based_on < (begun.at(-1)?.revision ?? 1)
}

const inOrder = new Set(['queue', 'send', 'answer'])

function outOfOrder(world: World, tasks: OnDisk['tasks']): string | null {
  const last = new Map<string, number>()
  for (const sent of world.sent) {
    const { task, kind, text } = sent.request
    if (world.moved.has(task) || sent.promoted || !inOrder.has(kind)) continue
    const revision = revisionOf(sent, tasks)
    if (revision === null) continue
    const line = `${sent.device} ${task}`
    if (revision < (last.get(line) ?? 0)) return text
    last.set(line, revision)
  }
  return null
}

function outOfJournalOrder(world: World, { entries, tasks }: OnDisk): string | null {
  const { sent, moved } = world
  const byKey = new Map(sent.map((one) => [keyOf(one), one]))
  const last = new Map<string, number>()
  for (const key of entries.keys()) {
    const one = byKey.get(key)
    if (one === undefined || one.request.kind !== 'queue' || one.promoted) continue
    if (moved.has(one.request.task) || isOld(world, one)) continue
    const revision = revisionOf(one, tasks)
    if (revision === null) continue
    if (revision < (last.get(one.request.task) ?? 0)) return one.request.text
    last.set(one.request.task, revision)
  }
  return null
}

function revisionOf(sent: Sent, tasks: OnDisk['tasks']): number | null {
  const id = storeId(sent)
  return tasks.get(sent.request.task)?.commands.find((command) => command.id === id)?.revision ?? null
}

function stranded(world: World, { journal, tasks }: OnDisk): string | null {
  const now = nowOf(world)
  for (const { sender, request, state } of journal?.entries ?? []) {
    const status = tasks.get(request.task)?.task.status
    if (state.state !== 'held' || (status !== 'finished' && status !== 'cancelled')) continue
    const isLeased = journal?.leases.some(({ task, expires_at }) => task === request.task && expires_at > now)
    const stands = standsNow(world.record, sender, now)
    if (!isLeased && !world.archived.has(request.task) && stands) return `${request.kind} ${request.text}`
  }
  return null
}

/** Whether a text had one effect when its command was applied, and none otherwise. */
function agrees(sent: Sent, { entries, ran }: OnDisk): boolean {
  const state = entries.get(keyOf(sent))?.state
  if (state?.state !== 'done') return true
  const isApplied = state.outcome === 'applied' && sent.request.kind !== 'interrupt'
  // What was pruned and came again too late may have had its effect before.
  if (state.outcome === 'expired') return true
  return timesIn(ran, sent) === (isApplied ? 1 : 0)
}

/** Whether an acknowledged message ended in a way that nothing in the world accounts for. */
function isLost(world: World, sent: Sent, now: EntryState | undefined): boolean {
  const { device, request, promoted } = sent
  if (request.kind !== 'queue' || promoted || now?.state !== 'done') return false
  switch (now.outcome) {
    case 'applied':
      return false
    case 'cancelled':
      return !sent.removalAsked
    case 'expired':
      return nowOf(world) <= request.issued_at + commandSeconds
    case 'superseded':
      return true
    case 'rejected':
      return !isAccountedFor(world, device, request.task, now.reason, request.issued_at)
  }
}

function isAccountedFor(
  world: World,
  device: string,
  task: string,
  reason: string,
  issuedAt: number,
): boolean {
  if (reason === 'revoked') return world.everRevoked.has(device) || nowOf(world) - world.began >= grantSeconds
  if (reason === 'conflict') return world.everArchived.has(task)
  // Only a device whose clock is ahead of the host's.
  return reason === 'bounds' && world.aheadAt.has(issuedAt)
}

function find(sent: readonly Sent[], isWrong: (sent: Sent) => boolean): string | null {
  const wrong = sent.find(isWrong)
  return wrong === undefined ? null : `${wrong.request.kind} ${wrong.request.text}`
}
