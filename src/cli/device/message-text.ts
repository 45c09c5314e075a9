import { messageBytesMax } from '../../limits.ts'
import { readInput } from '../input.ts'

/** A message as it was given: the words themselves, or - for standard input without its last line end. */
export async function messageText(given: string): Promise<string> {
  if (given !== '-') return given
  const bytes = await readInput('-', 'configuration', messageBytesMax)
  return new TextDecoder('utf-8').decode(bytes).replace(/\n$/, '')
}
