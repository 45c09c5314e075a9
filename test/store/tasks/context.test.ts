import { describe, expect, it } from 'vitest'
import { sha256Digest } from '../../../src/protocol/digest.ts'
import { captureContext, isContextOf } from '../../../src/store/tasks/context.ts'
import { intent } from './samples.ts'

const instruction = { path: 'AGENTS.md', scope: '', digest: sha256Digest('Be brief.'), text: 'Be brief.' }

describe('a frozen context', () => {
  it('with nothing configured has the published digest and omits lineage and knowledge', () => {
    const context = captureContext(1, intent.prompt)
    expect(context.digest).toBe('d6b811e6c3058906a58e52af0af55648a9c134aa935158d3dffb79087c3118a3')
    expect(JSON.stringify(context)).toBe(
      '{"schema":"openagents.coder.task-context.v2","task_revision":1,"prompt":"Sort the entries.\\nKeep dates.",' +
        `"instructions":[],"suites":[],"digest":"${context.digest}"}`,
    )
  })

  it('holds for its own revision and prompt only', () => {
    const context = captureContext(3, 'p', [instruction])
    expect(isContextOf(context, 3, 'p')).toBe(true)
    expect(isContextOf(context, 4, 'p')).toBe(false)
    expect(isContextOf(context, 3, 'q')).toBe(false)
  })

  it('does not hold when an instruction or the digest was altered', () => {
    const context = captureContext(3, 'p', [instruction])
    const altered = { ...instruction, text: 'Be long.' }
    expect(isContextOf({ ...context, instructions: [altered] }, 3, 'p')).toBe(false)
    expect(isContextOf({ ...context, instructions: [] }, 3, 'p')).toBe(false)
    expect(isContextOf({ ...context, digest: captureContext(3, 'p').digest }, 3, 'p')).toBe(false)
    const consistent = captureContext(3, 'p', [{ ...altered }])
    expect(isContextOf(consistent, 3, 'p')).toBe(false)
  })
})
