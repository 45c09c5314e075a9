import fc from 'fast-check'

/** One change of a JSON value, written out as text so that the text itself may be odd. */
export interface ValueEdit {
  /** Which of the value's parts, counted in the order of the text, modulo their number. */
  readonly at: number
  readonly change:
    | { readonly do: 'drop' | 'twice' | 'swap' | 'more' | 'less' | 'case' | 'other' }
    /** The part is replaced by this text, or its member is repeated with it. */
    | { readonly do: 'put' | 'repeat'; readonly text: string }
    | { readonly do: 'add'; readonly name: string; readonly text: string }
    | { readonly do: 'rename'; readonly name: string }
}

const id = 'ab'.repeat(32)
const names = [
  'extra',
  'v',
  'requires',
  'op',
  'kind',
  '__proto__',
  'constructor',
  '',
  'toString',
  'issued_at',
]
/** Texts of values that are at the edge of something, or beyond it. */
const edges = [
  'null',
  'true',
  'false',
  '0',
  '1',
  '-1',
  '-0',
  '1.0',
  '1e3',
  '0.5',
  '-1.5',
  '1e400',
  '9007199254740991',
  '9007199254740992',
  '-9007199254740991',
  '32',
  '33',
  '1000',
  '1001',
  '300',
  '1795000000',
  '1795086400',
  '""',
  '" "',
  '"\\n"',
  '"\\u0085"',
  '"\\u0000"',
  '"\\ud800"',
  '"\\ud83d\\ude00"',
  '"a\\tb"',
  '"é"',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '{"":0}',
  `"${id}"`,
  `"${id.toUpperCase()}"`,
  `"${id.slice(1)}"`,
  `"${id}a"`,
  `["${id}"]`,
  `["${id}","${id}"]`,
  '"observe"',
  '["operate","observe"]',
  '["observe","observe"]',
  '["observe","operate","terminal","review","access_read","access_admin"]',
  '["root"]',
  `"sha256:${id}"`,
  `"sha512:${id}"`,
  '"wss://relay.example.net/"',
  '"ws://127.0.0.1:1"',
  '"wss://relay.example.net/?x"',
  '"http://x/"',
  `"${'x'.repeat(200)}"`,
  `"${'x'.repeat(201)}"`,
  `"${'é'.repeat(64)}"`,
  `"${'é'.repeat(65)}"`,
  `"${'x'.repeat(512)}"`,
  `"${'x'.repeat(513)}"`,
  `"${'y'.repeat(16_384)}"`,
  `"${'y'.repeat(16_385)}"`,
  `${'['.repeat(70)}${']'.repeat(70)}`,
  `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
  `[${Array.from({ length: 65 }, (_, index) => `"${index.toString(16).padStart(64, '0')}"`).join(',')}]`,
  '"task.list"',
  '"workspace.list"',
  '"task.wonder"',
  '"enroll.redeem"',
  '"openagents.host-request.v2"',
  '["feature"]',
]

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...edges) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
  // About as deep as may be, wherever it is put.
  {
    weight: 1,
    arbitrary: fc.integer({ min: 58, max: 66 }).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }).map((one) => JSON.stringify(one)) },
)
const change: fc.Arbitrary<ValueEdit['change']> = fc.oneof(
  fc.record({
    do: fc.constantFrom('drop', 'twice', 'swap', 'more', 'less', 'case', 'other', 'other'),
  }) as fc.Arbitrary<ValueEdit['change']>,
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('put' as const), text }) },
  fc.record({ do: fc.constant('repeat' as const), text }),
  fc.record({ do: fc.constant('add' as const), name: fc.constantFrom(...names), text }),
  fc.record({ do: fc.constant('rename' as const), name: fc.constantFrom(...names) }),
)

export const valueEdit: fc.Arbitrary<ValueEdit> = fc.record({ at: fc.nat(1_000), change })

/** The text of a JSON value with the edits made, each where the text before it had that part. */
export function editedText(value: unknown, edits: readonly ValueEdit[]): string {
  const parts = { seen: 0 }
  const total = partsOf(value)
  const places = new Map(edits.map(({ at, change }) => [at % total, change]))
  return write(value, parts, places)
}

function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, item) => sum + partsOf(item), 1)
}

type Places = ReadonlyMap<number, ValueEdit['change']>

function write(value: unknown, parts: { seen: number }, places: Places): string {
  const change = places.get(parts.seen)
  parts.seen += 1
  const whole = writeWhole(value, parts, places, change)
  if (change === undefined) return whole
  switch (change.do) {
    case 'put':
      return change.text
    case 'more':
      return step(value, whole, 1)
    case 'less':
      return step(value, whole, -1)
    case 'other':
      return other(value, whole)
    case 'case':
      return typeof value === 'string' ? JSON.stringify(value.toUpperCase()) : `[${whole}]`
    default:
      return whole
  }
}

function writeWhole(
  value: unknown,
  parts: { seen: number },
  places: Places,
  own: ValueEdit['change'] | undefined,
): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const isList = Array.isArray(value)
  const members = Object.entries(value).map(([name, item]) => {
    const change = places.get(parts.seen)
    const text = write(item, parts, places)
    return membersFor(isList ? null : name, text, change)
  })
  if (own?.do === 'swap') members.reverse()
  if (own?.do === 'add') members.push([isList ? own.text : `${JSON.stringify(own.name)}:${own.text}`])
  const inside = members.flat().join(',')
  return isList ? `[${inside}]` : `{${inside}}`
}

/** How one member appears: once, or as its change says. */
function membersFor(name: string | null, text: string, change: ValueEdit['change'] | undefined): string[] {
  const member = (as: string, what: string) => (name === null ? what : `${JSON.stringify(as)}:${what}`)
  const plain = member(name ?? '', text)
  switch (change?.do) {
    case 'drop':
      return []
    case 'twice':
      return [plain, plain]
    case 'repeat':
      return [plain, member(name ?? '', change.text)]
    case 'rename':
      return [member(change.name, text)]
    default:
      return [plain]
  }
}

function step(value: unknown, text: string, by: 1 | -1): string {
  if (typeof value === 'number') return JSON.stringify(value + by)
  if (typeof value === 'string')
    return JSON.stringify(by > 0 ? `${value}${value.at(-1) ?? 'x'}` : value.slice(0, -1))
  return by > 0 ? `[${text},${text}]` : 'null'
}

/** Another value of the same shape: another identifier, another relay, a minute later. */
function other(value: unknown, text: string): string {
  if (typeof value === 'number') return JSON.stringify(value + 61)
  if (typeof value === 'boolean') return JSON.stringify(!value)
  if (typeof value !== 'string') return text
  return JSON.stringify(value.slice(0, -1) + (value.endsWith('a') ? 'b' : 'a'))
}
