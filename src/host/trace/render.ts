import type { TraceSession, TraceStep } from './records.ts'

/** A step as the ATIF document shows it. Keys are in this order; an absent one is left out, never null. */
export interface RenderedStep {
  readonly step_id: number
  readonly timestamp: string
  readonly source: 'system' | 'user' | 'agent'
  readonly message: string
  readonly model_name?: string
  readonly reasoning_content?: string
  readonly tool_calls?: readonly object[]
  readonly observation?: { readonly results: readonly object[] }
  readonly metrics?: { readonly prompt_tokens: number; readonly completion_tokens: number }
  readonly is_copied_context?: true
  readonly extra?: Readonly<Record<string, unknown>>
}

const sources = { System: 'system', User: 'user', Agent: 'agent' } as const

/**
 * Renders a trace's steps as the ATIF document has them. Pure.
 * @param before how many steps of the trace come before these
 * @see spec/evidence.md §3
 */
export function renderSteps(session: TraceSession, steps: readonly TraceStep[], before = 0): RenderedStep[] {
  return steps.map((step, index) => ({
    step_id: before + index + 1,
    timestamp: new Date(step.at).toISOString(),
    source: sources[step.source],
    message: step.message,
    ...(step.source === 'Agent' ? agentMembers(session, step) : {}),
    ...(step.extensions?.['carried_from'] === undefined ? {} : { is_copied_context: true as const }),
    ...extraOf(step),
  }))
}

function agentMembers(session: TraceSession, step: TraceStep): Partial<RenderedStep> {
  const { call, tokens, reasoning } = step
  return {
    model_name: step.model ?? session.model,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(call === undefined ? {} : callMembers(call)),
    ...(tokens === undefined ? {} : { metrics: { prompt_tokens: tokens[0], completion_tokens: tokens[1] } }),
  }
}

function callMembers(call: NonNullable<TraceStep['call']>): Partial<RenderedStep> {
  return {
    tool_calls: [
      {
        tool_call_id: call.id,
        function_name: call.name,
        arguments: isObject(call.arguments) ? call.arguments : { value: call.arguments },
        ...(call.extra === undefined ? {} : { extra: call.extra }),
      },
    ],
    observation: {
      results: [
        {
          source_call_id: call.id,
          content: call.output,
          extra: { status: call.outcome.toLowerCase(), duration_ms: call.milliseconds },
        },
      ],
    },
  }
}

/** Extensions, and what only an agent's step has a place for; left out when there is nothing. */
function extraOf(step: TraceStep): Pick<RenderedStep, 'extra'> {
  const agent = step.source === 'Agent'
  const extra = {
    ...step.extensions,
    ...(step.milliseconds === undefined ? {} : { duration_ms: step.milliseconds }),
    ...(step.call?.purpose === undefined ? {} : { purpose: step.call.purpose }),
    ...(agent || step.call === undefined ? {} : { call: step.call }),
    ...(agent || step.reasoning === undefined ? {} : { reasoning: step.reasoning }),
  }
  return Object.keys(extra).length === 0 ? {} : { extra }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
