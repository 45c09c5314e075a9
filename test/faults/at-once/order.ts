import type { Result } from '../../../src/protocol/bodies/reply.ts'
import type { Asked } from './hands.ts'
import { advanced, beginning, edited, is, keyOf, type Model, recorded, shows } from './model.ts'

/** What the search knows of a history that it tries: how far each hand's list has come, and the queue by then. */
interface Place {
  readonly model: Model
  /** For each hand, how many of its questions are answered. */
  readonly done: readonly number[]
  /** For each hand, whether its next question has done what it does and only waits for its answer. */
  readonly begun: readonly boolean[]
}

/** What the disk says in the end: what was done to the task, in order, and what became of each command. */
export interface Ending {
  readonly effects: readonly string[]
  readonly decided: ReadonlyMap<string, string>
}

/** The end of a history that explains everything, or how far the best one came. */
export type Found = { readonly end: Model } | { readonly stuckAt: readonly Asked[] }

/**
 * Looks for one order of everything that was asked in which each answer is right: what was answered before another was
 * asked comes before it, and the model says of each what the host said. Each question acts at one moment between its
 * asking and its answer, and what it was shown is the queue of that moment or of one between it and the answer.
 */
export function oneOrder(hands: readonly (readonly Asked[])[], ending: Ending): Found {
  const tried = new Set<string>()
  const nobody = hands.map(() => 0)
  const open: Place[] = [{ model: beginning, done: nobody, begun: nobody.map(() => false) }]
  let furthest: readonly number[] = nobody
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const key = keyAt(place)
    if (tried.has(key)) continue
    tried.add(key)
    if (sum(place.done) > sum(furthest)) furthest = place.done
    const next = nextOf(hands, place).filter(({ model }) => isOnTheWay(model, ending))
    if (next.length === 0 && isOver(hands, place, ending)) return { end: place.model }
    open.push(...next)
  }
  return { stuckAt: furthest.flatMap((done, hand) => hands[hand]?.[done] ?? []) }
}

/** Every next step; the likeliest last. */
function nextOf(hands: readonly (readonly Asked[])[], place: Place): Place[] {
  const next: Place[] = []
  for (const [hand, list] of hands.entries()) {
    const asked = list[place.done[hand] ?? 0]
    if (asked === undefined || place.begun[hand] === true || !mayBegin(hands, place, asked)) continue
    next.push(...began(place, hand, asked))
  }
  const model = advanced(place.model)
  if (model !== null) next.push({ ...place, model })
  for (const [hand, list] of hands.entries()) {
    const asked = list[place.done[hand] ?? 0]
    if (asked === undefined || place.begun[hand] !== true) continue
    if (isAnswer(place.model, asked)) next.push(answered(place, hand, place.model))
  }
  return next
}

/** Nothing may act that was asked after another, which has not been answered here, had its answer. */
function mayBegin(hands: readonly (readonly Asked[])[], place: Place, asked: Asked): boolean {
  return hands.every((list, hand) => {
    const other = list[place.done[hand] ?? 0]
    return other === undefined || other === asked || other.until > asked.from
  })
}

function began(place: Place, hand: number, asked: Asked): Place[] {
  const { device, what, result } = asked
  const begun = place.begun.map((before, index) => before || index === hand)
  if ('edit' in what) {
    const after = edited(place.model, device, what.edit)
    if (typeof after !== 'string') return result.status === 'ok' ? [{ ...place, begun, model: after }] : []
    return after === wordOf(result) ? [answered(place, hand, place.model)] : []
  }
  const { waiting, decided } = place.model
  const id = what.command.command
  const before = (waiting.find((one) => is(one, device, id)) ?? decided.get(keyOf(device, id)))?.command
  if (before === undefined) return [{ ...place, begun, model: recorded(place.model, device, what.command) }]
  if (before.text === what.command.text) return [{ ...place, begun }]
  return wordOf(result) === 'conflict' ? [answered(place, hand, place.model)] : []
}

/** Whether the model, as it is now, would give this answer to a question that has acted. */
function isAnswer(model: Model, { device, what, result }: Asked): boolean {
  if ('edit' in what) {
    return (
      result.status === 'ok' && result.outcome.kind === 'queue' && shows(model, device, result.outcome.queue)
    )
  }
  const one = model.waiting.find((other) => is(other, device, what.command.command))
  if (one !== undefined)
    return (one.state === 'held' || one.state === 'held first') && wordOf(result) === 'ok'
  const word = model.decided.get(keyOf(device, what.command.command))?.word
  return wordOf(result) === (word === 'applied' || word === 'cancelled' ? 'ok' : word)
}

function answered(place: Place, hand: number, model: Model): Place {
  return {
    model,
    done: place.done.map((count, index) => (index === hand ? count + 1 : count)),
    begun: place.begun.map((before, index) => index !== hand && before),
  }
}

export function wordOf(result: Result): string {
  return result.status === 'ok' ? 'ok' : result.code
}

/** A history that did something else to the task, or decided a command in another way, is not the one. */
function isOnTheWay({ effects, decided }: Model, ending: Ending): boolean {
  return (
    effects.length <= ending.effects.length &&
    effects.at(-1) === (effects.length === 0 ? undefined : ending.effects[effects.length - 1]) &&
    [...decided].every(([key, { word }]) => ending.decided.get(key) === word)
  )
}

function isOver(hands: readonly (readonly Asked[])[], { model, done }: Place, ending: Ending): boolean {
  return (
    hands.every((list, hand) => done[hand] === list.length) &&
    model.effects.length === ending.effects.length &&
    model.decided.size === ending.decided.size
  )
}

function keyAt({ model, done, begun }: Place): string {
  const { waiting, lease, ended, effects } = model
  const queue = waiting.map(({ command, state, edited: text, promoted }) => [
    command.command,
    state,
    text,
    promoted,
  ])
  return JSON.stringify([done, begun, lease, ended, effects.length, queue])
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
