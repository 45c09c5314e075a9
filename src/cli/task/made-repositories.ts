/** A kept change of a turn, as its manifest names it. */
interface Change {
  readonly path: string
  readonly state: string
}

/**
 * The `.git` entries that a turn made, each once. Those that were there before could not be written, so a hook in one
 * of these is the turn's own, and whoever runs git beside it would run it.
 */
export function madeRepositories(changes: readonly Change[]): string[] {
  const made = new Set<string>()
  for (const { path, state } of changes) {
    const parts = path.split('/')
    const at = parts.indexOf('.git')
    if (at !== -1 && state !== 'removed') made.add(parts.slice(0, at + 1).join('/'))
  }
  return [...made]
}
