/** One thing that was looked at. `fix` says what to do where it is not well. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  readonly fix: string | null
}
