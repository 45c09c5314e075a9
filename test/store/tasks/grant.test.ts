import { describe, expect, it } from 'vitest'
import { sha256Digest } from '../../../src/protocol/digest.ts'
import { parseExecutionGrant } from '../../../src/store/tasks/grant.ts'
import { refused } from '../../support/refusals.ts'
import { bytes } from './samples.ts'

const text =
  '{"schema":"openagents.coder.task-execution-grant.v1","task_id":"task-1","intent_digest":"sha256:' +
  `${'3f59'.repeat(16)}","expected_revision":1,"program":"/usr/bin/dash","arguments":["-c","sort"],` +
  '"write_workspace":true,"wall_seconds":30,"stream_bytes":65536,"memory_bytes":268435456}'
const grant: Record<string, unknown> = JSON.parse(text)

describe('an execution grant', () => {
  it('is kept with its exact text and the digest of its exact bytes', () => {
    const padded = `${text}\n`
    const parsed = parseExecutionGrant(bytes(padded))
    expect(parsed.text).toBe(padded)
    expect(parsed.digest).toBe(sha256Digest(padded))
    expect(JSON.stringify(parsed.grant)).toBe(
      text
        .replace('"program"', '"expected_source_snapshot":null,"program"')
        .replace(/\}$/, ',"requirements":null,"adapter_configuration":null}'),
    )
  })

  it.each([
    ['an intent digest without prefix', { intent_digest: 'AB'.repeat(32) }],
    ['a source snapshot', { expected_source_snapshot: 'c'.repeat(64) }],
    ['a source snapshot with prefix', { expected_source_snapshot: `sha256:${'c'.repeat(64)}` }],
    ['128 arguments', { arguments: Array.from({ length: 128 }, () => '') }],
    ['the least bounds', { wall_seconds: 1, stream_bytes: 1_024, memory_bytes: 67_108_864 }],
    ['the largest bounds', { wall_seconds: 3_600, stream_bytes: 1_048_576, memory_bytes: 8_589_934_592 }],
  ])('accepts %s', (_name, changes) => {
    expect(parseExecutionGrant(bytes({ ...grant, ...changes })).grant.task_id).toBe('task-1')
  })

  it.each([
    ['another schema', { schema: 'openagents.coder.task-execution-grant.v2' }],
    ['an unknown field', { note: 'x' }],
    ['a missing program', { program: undefined }],
    ['requirements', { requirements: {} }],
    ['an adapter configuration', { adapter_configuration: {} }],
    ['a task id with a slash', { task_id: 'a/b' }],
    ['a short intent digest', { intent_digest: 'abc' }],
    ['a short source snapshot', { expected_source_snapshot: 'abc' }],
    ['a relative program', { program: 'dash' }],
    ['a program with NUL', { program: '/a\0b' }],
    ['129 arguments', { arguments: Array.from({ length: 129 }, () => '') }],
    ['an argument with NUL', { arguments: ['a\0b'] }],
    ['an argument that is no text', { arguments: [1] }],
    ['no time', { wall_seconds: 0 }],
    ['more than an hour', { wall_seconds: 3_601 }],
    ['a small stream bound', { stream_bytes: 1_023 }],
    ['a large stream bound', { stream_bytes: 1_048_577 }],
    ['little memory', { memory_bytes: 67_108_863 }],
    ['much memory', { memory_bytes: 8_589_934_593 }],
    ['half a second', { wall_seconds: 0.5 }],
  ])('refuses invalid_command for %s', async (_name, changes) => {
    await refused('invalid_command', () => parseExecutionGrant(bytes({ ...grant, ...changes })))
  })

  it('refuses bytes that are no bounded strict JSON, a wrong shape and a bound with messages of their own', async () => {
    const messages = new Set<string>()
    for (const value of [
      text.padEnd(65_537),
      '{',
      `{"schema":1,${text.slice(1)}`,
      { ...grant, x: 1 },
      { ...grant, program: '' },
    ]) {
      messages.add((await refused('invalid_command', () => parseExecutionGrant(bytes(value)))).message)
    }
    expect(messages.size).toBe(5)
    expect(parseExecutionGrant(bytes(text.padEnd(65_536))).grant.program).toBe('/usr/bin/dash')
  })
})
