/** C0 and C1 controls, DEL, bidirectional controls, line separators and lone surrogates. */
const unseen =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/**
 * One line that is safe on a terminal: every control or bidirectional character shows as an escape, so that
 * text from a command, a file name or a device can neither move the cursor nor reverse what is read.
 */
export function printable(text: string): string {
  return text.replace(unseen, escaped)
}

/** The same for text of several lines: line feeds and tabs stay what they are. */
export function printableBlock(text: string): string {
  return text.replace(unseen, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  )
}

/**
 * One line of JSON in which such characters stand as JSON's own escapes: the same value for a program, and safe
 * where a person reads it on a terminal after all.
 */
export function jsonLine(value: unknown): string {
  const text = JSON.stringify(value).replace(unseen, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
  return `${text}\n`
}

function escaped(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`
  return `\\u{${code.toString(16)}}`
}
