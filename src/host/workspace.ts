/** A directory that tasks may work in, by the label that devices know. */
export interface Workspace {
  readonly label: string
  /** As it was configured: absolute, not necessarily canonical. */
  readonly path: string
}
