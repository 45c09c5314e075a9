import { identifierBytesMax } from '../limits.ts'

const encoder = new TextEncoder()
const controls = /[\u0000-\u001f\u007f-\u009f]/
const controlsButLines = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/
const blank = /^\p{White_Space}*$/u
const identifier = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** Length of `text` in UTF-8 bytes. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).length
}

/** Whether nothing is left of `text` after trimming Unicode white space. */
export function isBlank(text: string): boolean {
  return blank.test(text)
}

/** Whether `text` has a surrogate without its pair, which UTF-8 cannot carry. */
export function hasLoneSurrogate(text: string): boolean {
  return /[\ud800-\udfff]/.test(text) && /\p{Surrogate}/u.test(text)
}

/**
 * Single-line text: not blank, no control characters, at most `bytesMax` UTF-8 bytes.
 * @see spec/wire.md §1
 */
export function isSingleLine(text: string, bytesMax: number): boolean {
  return fits(text, bytesMax) && !isBlank(text) && !controls.test(text)
}

/** Message text: not blank after trimming, any characters, at most `bytesMax` UTF-8 bytes. @see spec/wire.md §1 */
export function isMessage(text: string, bytesMax: number): boolean {
  return fits(text, bytesMax) && !isBlank(text)
}

/** Text of the task store: like a single line, or with `\n \r \t` when `multi`. @see spec/store.md §2 */
export function isStoreText(text: string, bytesMax: number, lines: 'single' | 'multi'): boolean {
  if (lines === 'single') return isSingleLine(text, bytesMax)
  return isMessage(text, bytesMax) && !controlsButLines.test(text)
}

/** An identifier of the task store: 1–128 of `[A-Za-z0-9._-]`, first alphanumeric. @see spec/store.md §2 */
export function isIdentifier(text: string): boolean {
  return text.length <= identifierBytesMax && identifier.test(text)
}

function fits(text: string, bytesMax: number): boolean {
  return text.length <= bytesMax && !hasLoneSurrogate(text) && utf8Bytes(text) <= bytesMax
}
