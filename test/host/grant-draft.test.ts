import { describe, expect, it } from 'vitest'
import { defaultGrantTerms, draftGrant } from '../../src/host/grant-draft.ts'
import { parseExecutionGrant } from '../../src/store/tasks/grant.ts'
import { hostStage } from '../support/host-stage.ts'

describe('drafting a grant', () => {
  it("names the task's current turn exactly, and reads back as it was drafted", async () => {
    const stage = await hostStage()
    await stage.submit('task-1', '/srv/w')
    await stage.act('task-1', { type: 'correct', prompt: 'Other.', reason: 'why' })
    const task = await stage.tasks.show('task-1')
    const snapshot = '4'.repeat(64)
    const { grant, text } = draftGrant(task, {
      ...defaultGrantTerms,
      program: '/usr/bin/dash',
      arguments: ['-c', 'true'],
      expected_source_snapshot: snapshot,
    })
    expect(parseExecutionGrant(new TextEncoder().encode(text)).grant).toEqual(grant)
    expect(grant).toMatchObject({
      task_id: 'task-1',
      intent_digest: task.intent_digest,
      expected_revision: 2,
      expected_source_snapshot: snapshot,
      write_workspace: false,
      wall_seconds: 600,
      stream_bytes: 262_144,
      memory_bytes: 2_147_483_648,
    })
  })
})
