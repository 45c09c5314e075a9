type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** One place of a JSON document, and each way in which it can be altered there and nowhere else. */
export interface Point {
  /** Such as `.commands[0].receipt.sequence`; `!` stands before what a text holds. */
  readonly where: string
  readonly changes: readonly Change[]
}

interface Change {
  readonly how: string
  readonly was: Json
  /** The whole document with this one change. */
  altered(): Json
}

/** Gives the whole document with another value at a place; with nothing there for `undefined`. */
type Put = (other: Json | undefined) => Json

/** Every place of a document, from the whole down to each leaf, and into each text that holds JSON itself. */
export function points(document: Json): Point[] {
  return [...pointsAt(document, '', (other) => other ?? null)]
}

function* pointsAt(value: Json, where: string, put: Put): Generator<Point> {
  const ways = changesOf(value)
  if (where !== '') ways.push(['removed', undefined])
  yield {
    where,
    changes: ways.map(([how, other]) => ({ how, was: value, altered: () => put(other) })),
  }
  if (Array.isArray(value)) {
    for (const [place, item] of value.entries()) {
      yield* pointsAt(item, `${where}[${place}]`, (other) =>
        put(other === undefined ? value.toSpliced(place, 1) : value.with(place, other)),
      )
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      yield* pointsAt(item, `${where}.${key}`, (other) => put(withKey(value, key, other)))
    }
  } else if (typeof value === 'string' && value.startsWith('{')) {
    yield* pointsAt(JSON.parse(value), `${where}!`, (other) => put(JSON.stringify(other)))
  }
}

function withKey(value: { [key: string]: Json }, key: string, other: Json | undefined): Json {
  if (other !== undefined) return { ...value, [key]: other }
  const { [key]: _removed, ...rest } = value
  return rest
}

function changesOf(value: Json): [string, Json | undefined][] {
  if (value === null)
    return [
      ['a text', 'x'],
      ['a number', 0],
      ['a list', []],
    ]
  if (typeof value === 'boolean')
    return [
      ['the other', !value],
      ['null', null],
      ['a text', String(value)],
    ]
  if (typeof value === 'number') {
    return [
      ['one more', value + 1],
      ['one less', value - 1],
      ['null', null],
      ['a text', String(value)],
    ]
  }
  if (typeof value === 'string') return changesOfText(value)
  return Array.isArray(value) ? changesOfList(value) : changesOfObject(value)
}

function changesOfText(value: string): [string, Json][] {
  const changes: [string, Json][] = [
    ['longer', `${value}x`],
    ['empty', ''],
    ['null', null],
    ['a number', 7],
  ]
  const hex = /[0-9a-f]{32}/.exec(value)
  if (hex === null) return changes
  const digit = value[hex.index] === '0' ? '1' : '0'
  const other = `${value.slice(0, hex.index)}${digit}${value.slice(hex.index + 1)}`
  return [...changes, ['another digit', other], ['capital digits', value.replace(hex[0], upper(hex[0]))]]
}

/** The same digits in capitals; other digits when there is no letter among them. */
function upper(hex: string): string {
  return /[a-f]/.test(hex) ? hex.toUpperCase() : hex.replaceAll(/\d/g, 'A')
}

function changesOfList(value: Json[]): [string, Json][] {
  const changes: [string, Json][] = [
    ['null', null],
    ['an object', {}],
    ['one more', [...value, 'x']],
  ]
  const [first, second] = value
  if (first !== undefined) changes.push(['emptied', []], ['the first twice', [first, ...value]])
  if (second !== undefined)
    changes.push(['the first two swapped', value.with(0, second).with(1, first ?? null)])
  return changes
}

function changesOfObject(value: { [key: string]: Json }): [string, Json][] {
  return [
    ['null', null],
    ['a list', []],
    ['a key more', { ...value, added: null }],
  ]
}
