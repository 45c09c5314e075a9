/** A JSON value with what its text was like, or why it has none. Written apart from the reader that is tested. */
export type StrictReading =
  | { readonly ok: true; readonly value: unknown; readonly loose: readonly string[] }
  | { readonly ok: false }

interface Reader {
  readonly text: string
  at: number
  readonly loose: string[]
}

const number = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y
const chars = /(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const nestingMax = 64

/**
 * Reads JSON by the page: recursive, one character at a time, slow and plain.
 * @see spec/wire.md §1
 */
export function readStrictly(bytes: Uint8Array): StrictReading {
  const text = Buffer.from(bytes).toString('utf8')
  // What is no UTF-8 does not come back as it was; a byte order mark is no white space.
  if (!Buffer.from(text, 'utf8').equals(bytes) || text.startsWith('\ufeff')) return { ok: false }
  const reader: Reader = { text, at: 0, loose: [] }
  try {
    const value = readValue(reader, [], 0)
    skipSpace(reader)
    return reader.at === text.length ? { ok: true, value, loose: reader.loose } : { ok: false }
  } catch (error) {
    if (error === notStrict) return { ok: false }
    throw error
  }
}

const notStrict = new Error('not strict JSON')

function readValue(reader: Reader, path: readonly (string | number)[], depth: number): unknown {
  skipSpace(reader)
  const char = reader.text[reader.at]
  if (char === '{') return readObject(reader, path, depth + 1)
  if (char === '[') return readList(reader, path, depth + 1)
  if (char === '"') return readString(reader)
  for (const [word, value] of [
    ['true', true],
    ['false', false],
    ['null', null],
  ] as const) {
    if (!reader.text.startsWith(word, reader.at)) continue
    reader.at += word.length
    return value
  }
  return readNumber(reader, path)
}

function readObject(reader: Reader, path: readonly (string | number)[], depth: number): unknown {
  demand(depth <= nestingMax)
  const members = new Map<string, unknown>()
  if (opens(reader, '}')) return {}
  do {
    skipSpace(reader)
    const name = readString(reader)
    demand(!members.has(name))
    skipSpace(reader)
    take(reader, ':')
    members.set(name, readValue(reader, [...path, name], depth))
  } while (goesOn(reader, '}'))
  const object: Record<string, unknown> = {}
  for (const [name, value] of members)
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
  return object
}

function readList(reader: Reader, path: readonly (string | number)[], depth: number): unknown[] {
  demand(depth <= nestingMax)
  const items: unknown[] = []
  if (opens(reader, ']')) return items
  do items.push(readValue(reader, [...path, items.length], depth))
  while (goesOn(reader, ']'))
  return items
}

function readString(reader: Reader): string {
  take(reader, '"')
  chars.lastIndex = reader.at
  const raw = chars.exec(reader.text)?.[0]
  demand(raw !== undefined)
  reader.at += raw.length
  const text = raw
    .slice(0, -1)
    .replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, code: string | undefined, char: string) =>
      code === undefined ? (escapes[char] ?? char) : String.fromCharCode(Number.parseInt(code, 16)),
    )
  // Only a whole pair survives the way through UTF-8.
  demand(Buffer.from(text, 'utf8').toString('utf8') === text)
  return text
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

function readNumber(reader: Reader, path: readonly (string | number)[]): number {
  number.lastIndex = reader.at
  const [token, fraction, exponent] = number.exec(reader.text) ?? []
  demand(token !== undefined)
  reader.at += token.length
  const value = Number(token)
  demand(Number.isFinite(value))
  if (fraction === undefined && exponent === undefined && token !== '-0') {
    const exact = BigInt(token)
    demand(exact <= 9007199254740991n && exact >= -9007199254740991n)
  } else if (Number.isInteger(value)) reader.loose.push(path.join('.'))
  return value
}

function opens(reader: Reader, closing: string): boolean {
  reader.at += 1
  skipSpace(reader)
  if (reader.text[reader.at] !== closing) return false
  reader.at += 1
  return true
}

function goesOn(reader: Reader, closing: string): boolean {
  skipSpace(reader)
  const char = reader.text[reader.at]
  reader.at += 1
  demand(char === ',' || char === closing)
  return char === ','
}

function take(reader: Reader, char: string): void {
  demand(reader.text[reader.at] === char)
  reader.at += 1
}

function skipSpace(reader: Reader): void {
  while (' \t\r\n'.includes(reader.text[reader.at] ?? 'x')) reader.at += 1
}

function demand(holds: boolean): asserts holds {
  if (!holds) throw notStrict
}
