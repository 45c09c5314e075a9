import { describe, expect, it } from 'vitest'
import type { TraceStep } from '../../../src/host/trace/records.ts'
import { renderSteps } from '../../../src/host/trace/render.ts'

const session = {
  id: 'task-1-1',
  model: 'm1',
  door: 'acp-agent',
  repository: '/w',
  directive: '',
  state: '',
  seconds: 0,
  version: '0.1.0',
}
const call = {
  id: 'c1',
  name: 'edit',
  arguments: { path: 'a' },
  output: 'done',
  outcome: 'Completed' as const,
  milliseconds: 12,
  purpose: 'tidy',
}
const render = (step: TraceStep) => JSON.stringify(renderSteps(session, [step])[0])

describe('rendering steps', () => {
  it('numbers them from one, in lower case, with the time in UTC', () => {
    expect(render({ at: 1_760_000_000_004, source: 'User', message: 'x' })).toBe(
      '{"step_id":1,"timestamp":"2025-10-09T08:53:20.004Z","source":"user","message":"x"}',
    )
  })

  it('shows extensions, and how long it took, as extra', () => {
    expect(
      render({ at: 0, source: 'System', message: '', extensions: { effect_id: 'e' }, milliseconds: 5 }),
    ).toBe(
      '{"step_id":1,"timestamp":"1970-01-01T00:00:00.000Z","source":"system","message":"","extra":{"effect_id":"e","duration_ms":5}}',
    )
  })

  it("gives an agent's call as a tool call with its observation", () => {
    const agent = { at: 0, source: 'Agent' as const, message: 'm', call, reasoning: 'r' }
    expect(renderSteps(session, [{ ...agent, tokens: [3, 4] }])[0]).toMatchObject({
      model_name: 'm1',
      reasoning_content: 'r',
      tool_calls: [{ tool_call_id: 'c1', function_name: 'edit', arguments: { path: 'a' } }],
      observation: {
        results: [{ source_call_id: 'c1', content: 'done', extra: { status: 'completed', duration_ms: 12 } }],
      },
      metrics: { prompt_tokens: 3, completion_tokens: 4 },
      extra: { purpose: 'tidy' },
    })
  })

  it.each([[7], ['text'], [null], [[1]]])('wraps arguments that are no object: %j', (value) => {
    const [step] = renderSteps(session, [
      { at: 0, source: 'Agent', message: '', call: { ...call, arguments: value } },
    ])
    expect(step?.tool_calls?.[0]).toMatchObject({ arguments: { value } })
  })

  it('leaves a call that is no agent call under extra, and marks carried context', () => {
    const [step] = renderSteps(session, [
      { at: 0, source: 'System', message: '', call, extensions: { carried_from: { turn: 1 } } },
    ])
    expect(step).toMatchObject({
      is_copied_context: true,
      extra: { call: { id: 'c1' }, carried_from: { turn: 1 } },
    })
    expect(step).not.toHaveProperty('tool_calls')
  })
})
