/** A word as a person may type it into a shell, whatever is in it. Pure. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
