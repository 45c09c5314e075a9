import { heldPerTaskMax } from '../../../src/limits.ts'
import type { DeviceCommand, QueueEdit } from '../../../src/protocol/operations/commands.ts'
import type { QueueView } from '../../../src/protocol/outcomes.ts'

/** A command that is not decided, in the words of the model: it waits to be looked at, is held, or begins to act. */
export interface Waiting {
  readonly device: string
  readonly command: DeviceCommand
  readonly state: 'new' | 'held' | 'held first' | 'acting'
  readonly edited?: string
  readonly promoted?: true
}

/** A decided command, and the word for what became of it. */
export interface Decided {
  readonly command: DeviceCommand
  readonly word: string
  readonly promoted?: true
}

/**
 * What a queue of a task is, as simply as can be said: of a task of which no turn ever runs, so that it is queued or
 * has ended. Written apart from the product, from the rules that its users are told.
 */
export interface Model {
  /** The commands that are not decided, in the order of the journal. */
  readonly waiting: readonly Waiting[]
  /** What became of the others, by their keys. */
  readonly decided: ReadonlyMap<string, Decided>
  readonly lease: string | null
  readonly ended: boolean
  readonly revision: number
  readonly turnStarted: number
  /** What was done to the task so far, and by which command. */
  readonly effects: readonly string[]
}

export const beginning: Model = {
  waiting: [],
  decided: new Map(),
  lease: null,
  ended: false,
  revision: 1,
  turnStarted: 1,
  effects: [],
}

export function textOf({ edited, command }: Waiting): string {
  return edited ?? command.text
}

const isHeld = ({ state }: Waiting): boolean => state === 'held' || state === 'held first'
const isFirst = ({ state, promoted }: Waiting): boolean => state === 'held first' || promoted === true

/** The held messages as they run. */
export function inRunOrder({ waiting }: Model): Waiting[] {
  const held = waiting.filter(isHeld)
  return [...held.filter(isFirst), ...held.filter((one) => !isFirst(one))]
}

/** Whether a device that asks now sees this. */
export function shows(model: Model, device: string, view: QueueView): boolean {
  const items = inRunOrder(model)
  return (
    (view.lease?.device ?? null) === model.lease &&
    view.items.length === items.length &&
    items.every((one, index) => {
      const item = view.items[index]
      const text = one.device === device ? textOf(one) : null
      return (
        item?.command === one.command.command &&
        item.device === one.device &&
        item.text === text &&
        item.priority === isFirst(one)
      )
    })
  )
}

/** The queue after an edit, or the word of a refusal. */
export function edited(model: Model, device: string, edit: QueueEdit): Model | string {
  if (edit.action === 'list') return model
  if (edit.action === 'lease')
    return [null, device].includes(model.lease) ? { ...model, lease: device } : 'conflict'
  if (edit.action === 'release') return model.lease === device ? { ...model, lease: null } : model
  if (model.lease !== device) return 'conflict'
  return edit.action === 'reorder' ? reordered(model, edit.commands) : changedMessage(model, device, edit)
}

function changedMessage(
  model: Model,
  device: string,
  edit: Extract<QueueEdit, { command: string }>,
): Model | string {
  const one = model.waiting.find((other) => is(other, device, edit.command))
  const decided = model.decided.get(keyOf(device, edit.command))
  if (one === undefined && decided === undefined) return 'forbidden'
  if (edit.action === 'remove' && decided?.word === 'cancelled') return model
  if (edit.action === 'send_now' && (one ?? decided)?.promoted === true) return model
  if (one === undefined || !isHeld(one)) return 'conflict'
  if (edit.action === 'remove') return decide(model, one, 'cancelled')
  if (edit.action === 'send_now') return changed(model, one, { promoted: true })
  const { edited: _, ...plain } = one
  return replaced(model, one, edit.text === one.command.text ? plain : { ...one, edited: edit.text })
}

function reordered(model: Model, commands: readonly string[]): Model | string {
  const movable = model.waiting.filter((one) => isHeld(one) && !isFirst(one))
  const wanted = commands.flatMap((id) => movable.filter(({ command }) => command.command === id))
  if (wanted.length !== movable.length || commands.length !== movable.length) return 'conflict'
  const next = wanted[Symbol.iterator]()
  return {
    ...model,
    waiting: model.waiting.map((one) => (movable.includes(one) ? (next.next().value ?? one) : one)),
  }
}

/** The journal with a new command at its end. */
export function recorded(model: Model, device: string, command: DeviceCommand): Model {
  return { ...model, waiting: [...model.waiting, { device, command, state: 'new' }] }
}

/** What happens next by itself, or null when nothing does: what acts has its effect, else all are looked at. */
export function advanced(model: Model): Model | null {
  const acting = model.waiting.find(({ state }) => state === 'acting')
  if (acting !== undefined) return acted(model, acting)
  const next = looked(model)
  return next === model ? null : next
}

function looked(model: Model): Model {
  for (const one of model.waiting) {
    const next = lookedAt(model, one)
    if (next === model) continue
    return next.waiting.some(({ state }) => state === 'acting') ? next : looked(next)
  }
  return model
}

function lookedAt(model: Model, one: Waiting): Model {
  const { action, based_on } = one.command
  const kind = one.promoted === true ? 'steer' : action
  const isOld = based_on < model.turnStarted
  const free = model.ended && !hasAhead(model, one, kind === 'steer')
  const at = model.waiting.indexOf(one)
  switch (kind) {
    case 'interrupt': {
      const newer = model.waiting.some(({ command }, index) => index > at && command.action === 'interrupt')
      if (newer || isOld || model.ended) return decide(model, one, 'stale')
      return changed(model, one, { state: 'acting' })
    }
    case 'send':
      return free ? changed(model, one, { state: 'acting' }) : decide(model, one, 'conflict')
    case 'queue':
      if (free && model.lease === null) return changed(model, one, { state: 'acting' })
      return hold(model, one, 'held')
    case 'steer':
      if (!isOld && !model.ended) return changed(model, one, { state: 'acting' })
      return free ? changed(model, one, { state: 'acting' }) : hold(model, one, 'held first')
    case 'answer':
      return decide(model, one, isOld ? 'stale' : 'conflict')
  }
}

function hasAhead(model: Model, one: Waiting, jumps: boolean): boolean {
  const at = model.waiting.indexOf(one)
  return model.waiting.some((other, index) => {
    if (other === one || !isHeld(other)) return false
    return jumps ? other.state === 'held first' && index < at : other.state === 'held first' || index < at
  })
}

function hold(model: Model, one: Waiting, state: 'held' | 'held first'): Model {
  if (one.state === state) return model
  const isFull = one.state === 'new' && model.waiting.filter(isHeld).length >= heldPerTaskMax
  return isFull ? decide(model, one, 'bounds') : changed(model, one, { state })
}

function acted(model: Model, one: Waiting): Model {
  const stops = one.command.action === 'interrupt'
  const does = stops ? 'cancel' : model.ended ? 'continue' : 'correct'
  const revision = model.revision + 1
  return {
    ...decide(model, one, 'applied'),
    revision,
    ended: stops,
    turnStarted: does === 'continue' ? revision : model.turnStarted,
    effects: [...model.effects, `${does}: ${textOf(one)}`],
  }
}

function decide(model: Model, one: Waiting, word: string): Model {
  const { command, promoted } = one
  const now = { command, word, ...(promoted === undefined ? {} : { promoted }) }
  const decided = new Map(model.decided).set(keyOf(one.device, command.command), now)
  return { ...model, decided, waiting: model.waiting.filter((other) => other !== one) }
}

function changed(model: Model, one: Waiting, change: Partial<Waiting>): Model {
  return replaced(model, one, { ...one, ...change })
}

function replaced(model: Model, one: Waiting, by: Waiting): Model {
  return { ...model, waiting: model.waiting.map((other) => (other === one ? by : other)) }
}

export function is(one: Waiting, device: string, command: string): boolean {
  return one.device === device && one.command.command === command
}

export function keyOf(device: string, command: string): string {
  return `${device}:${command}`
}
