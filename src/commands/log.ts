/** Where the command journal says what went wrong. Never content: names, codes and files only. */
export interface CommandLog {
  warn(message: string, facts?: CommandFacts): void
  error(message: string, facts?: CommandFacts): void
}

export interface CommandFacts {
  readonly task?: string
  readonly device?: string
  readonly code?: string
  readonly reason?: string
  readonly file?: string
}
