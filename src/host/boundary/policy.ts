/** What a boundary shows and hides. Every path is absolute and exists. @see spec/execution.md §5 */
export interface BoundaryPolicy {
  /** Only of a writing policy. */
  readonly checkout?: string
  readonly writable?: readonly string[]
  /** Never writable. */
  readonly protected?: readonly string[]
  /** Never writable, nor may it touch a writable path. */
  readonly sealed?: readonly string[]
  /** Not visible, even where a visible path contains it. */
  readonly hidden?: readonly string[]
  /** Naming one confines reads to these and the system's own directories. */
  readonly readable?: readonly string[]
  readonly offline: boolean
}

/** The same policy, every path canonical. */
export interface ResolvedPolicy {
  readonly checkout: string | null
  readonly writable: readonly string[]
  readonly protected: readonly string[]
  readonly sealed: readonly string[]
  readonly hidden: readonly string[]
  readonly readable: readonly string[]
  readonly offline: boolean
  /** Git's own entries inside a writable checkout, at any depth; the command may read and not change them. */
  readonly git: readonly string[]
}
