import fc from 'fast-check'

/** One change of raw bytes. Positions are taken modulo the length of what they are applied to. */
export type ByteEdit =
  | { readonly do: 'flip'; readonly at: number; readonly bit: number }
  | { readonly do: 'cut'; readonly at: number }
  | { readonly do: 'remove'; readonly at: number; readonly count: number }
  | { readonly do: 'insert'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly do: 'splice'; readonly at: number; readonly from: number; readonly other: number }
  | { readonly do: 'end'; readonly bytes: Uint8Array }

const at = fc.nat(200_000)
/** What is worth inserting: pieces of JSON, marks, halves of characters, odd numbers. */
const pieces = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '0',
  '-',
  '.',
  'e',
  'E+',
  '-0',
  '1.0',
  '1e3',
  '1e400',
  '9007199254740992',
  '\ufeff',
  ' ',
  '\n',
  '\u0000',
  '\\ud800',
  '\\udc00',
  '\\ud83d\\ude00',
  '\\u0000',
  'null',
  '"v":1,',
  '{"v":',
  '/**/',
  '['.repeat(65),
  '{"a":'.repeat(64),
  'é',
  '\u2028',
  '\u{1f600}',
].map((text) => new TextEncoder().encode(text))
const oddBytes = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]].map(
  (bytes) => Uint8Array.from(bytes),
)
const bytes = fc.oneof(fc.constantFrom(...pieces, ...oddBytes), fc.uint8Array({ minLength: 1, maxLength: 8 }))

export const byteEdit: fc.Arbitrary<ByteEdit> = fc.oneof(
  fc.record({ do: fc.constant('flip' as const), at, bit: fc.nat(7) }),
  fc.record({ do: fc.constant('cut' as const), at }),
  fc.record({ do: fc.constant('remove' as const), at, count: fc.integer({ min: 1, max: 40 }) }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('insert' as const), at, bytes }) },
  fc.record({ do: fc.constant('splice' as const), at, from: at, other: at }),
  fc.record({ do: fc.constant('end' as const), bytes }),
)

/**
 * The bytes after every edit, in turn.
 * @param others what a splice takes its second half from
 */
export function editedBytes(
  source: Uint8Array,
  edits: readonly ByteEdit[],
  others: readonly Uint8Array[],
): Uint8Array {
  return edits.reduce<Uint8Array>((bytes, edit) => editBytes(bytes, edit, others), source)
}

function editBytes(source: Uint8Array, edit: ByteEdit, others: readonly Uint8Array[]): Uint8Array {
  const place = 'at' in edit ? edit.at % (source.length + 1) : source.length
  const head = source.subarray(0, place)
  switch (edit.do) {
    case 'flip': {
      const flipped = Uint8Array.from(source)
      const where = edit.at % Math.max(1, source.length)
      flipped[where] = (flipped[where] ?? 0) ^ (1 << edit.bit)
      return flipped
    }
    case 'cut':
      return Uint8Array.from(head)
    case 'remove':
      return Buffer.concat([head, source.subarray(place + edit.count)])
    case 'insert':
      return Buffer.concat([head, edit.bytes, source.subarray(place)])
    case 'splice': {
      const other = others[edit.other % others.length] ?? source
      return Buffer.concat([head, other.subarray(edit.from % (other.length + 1))])
    }
    case 'end':
      return Buffer.concat([source, edit.bytes])
  }
}
