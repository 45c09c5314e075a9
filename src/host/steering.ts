/** How an engine takes a message while its turn runs. @see spec/turns.md §4 */
export type SteeringMode = 'mid_turn' | 'turn_boundary' | 'unsupported'

/** What may stand in for native steering, and only when the sender asked for it. */
export type SteeringEmulation = 'cancel_and_continue'

/** What shows that a steer reached the engine. Only the first three confirm that it was consumed. */
export type SteeringAcknowledgment =
  | 'engine_replay'
  | 'turn_answer'
  | 'next_turn_start'
  | 'input_written'
  | 'none'

/** What one adapter can do with a message that arrives while its turn runs. */
export interface SteeringRow {
  readonly adapter: string
  readonly native: SteeringMode
  readonly emulation: SteeringEmulation | null
  readonly acknowledgment: SteeringAcknowledgment
  readonly limitations: readonly string[]
}

const onePromptAtATime: Omit<SteeringRow, 'adapter'> = {
  native: 'turn_boundary',
  emulation: 'cancel_and_continue',
  acknowledgment: 'next_turn_start',
  limitations: ['one prompt at a time'],
}

const rows: ReadonlyMap<string, SteeringRow> = new Map(
  (
    [
      {
        adapter: 'bounded-command',
        native: 'turn_boundary',
        emulation: null,
        acknowledgment: 'next_turn_start',
        limitations: ['standard input is closed'],
      },
      {
        adapter: 'microcoder-repository',
        native: 'turn_boundary',
        emulation: null,
        acknowledgment: 'next_turn_start',
        limitations: ['instructions are read once, at admission'],
      },
      { adapter: 'acp-agent', ...onePromptAtATime },
      { adapter: 'devin-acp', ...onePromptAtATime },
      { adapter: 'opencode-acp', ...onePromptAtATime },
      { adapter: 'grok-acp', ...onePromptAtATime },
    ] satisfies SteeringRow[]
  ).map((row) => [row.adapter, row]),
)

/**
 * The steering row of an adapter. An adapter that this program does not know steers in no way at all.
 * @see spec/turns.md §4, spec/agent-adapter.md
 */
export function steeringRow(adapter: string): SteeringRow {
  return (
    rows.get(adapter) ?? {
      adapter,
      native: 'unsupported',
      emulation: null,
      acknowledgment: 'none',
      limitations: ['this adapter is not known here'],
    }
  )
}
