import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readTrace } from '../../../src/host/trace/reader.ts'
import { errorsStep, outputStep, promptStep, resultStep } from '../../../src/host/trace/run-steps.ts'
import { createTrace } from '../../../src/host/trace/writer.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { tempDir } from '../../support/temp-dir.ts'

const session = {
  id: 'task-1-1',
  model: 'none',
  door: 'bounded-command',
  repository: '/srv/work/demo',
  directive: '',
  state: '',
  seconds: 0,
  version: '0.1.0',
}

describe('writing a trace', () => {
  it('writes one private line a record, which reads back whole', async () => {
    const path = join(await tempDir(), 'task-1.1.atif.jsonl')
    const trace = await createTrace(realDisk, fakeClock(1_760_000_000_000), path, session)
    await trace.step(promptStep('Sort the entries.'))
    await trace.end()
    await trace.end()
    await trace.close()
    const text = await readFile(path, 'utf8')
    expect(text.startsWith('{"record":"session","schema_version":"ATIF-v1.8",')).toBe(true)
    expect(text.split('\n')).toEqual([
      expect.stringContaining('"door":"bounded-command"'),
      '{"record":"step","step":{"at":1760000000000,"source":"User","message":"Sort the entries."}}',
      '{"record":"end","at":1760000000000,"state":"ended"}',
      '',
    ])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(readTrace(await readFile(path))?.whole).toBe(true)
  })

  it('never continues another run and takes nothing after its end', async () => {
    const path = join(await tempDir(), 'task-1.1.atif.jsonl')
    const trace = await createTrace(realDisk, fakeClock(), path, session)
    await trace.end()
    const before = await readFile(path, 'utf8')
    await expect(trace.step(promptStep('late'))).rejects.toMatchObject({ code: 'io' })
    await expect(createTrace(realDisk, fakeClock(), path, session)).rejects.toMatchObject({ code: 'io' })
    expect(await readFile(path, 'utf8')).toBe(before)
    await trace.close()
  })
})

describe('steps of a run', () => {
  it('keeps the exact bytes of output beside their text, and its gaps', () => {
    expect(
      outputStep({ bytes: Uint8Array.of(97, 255, 98), offset: 4, gaps: [{ offset: 7, bytes: 6 }] }),
    ).toEqual({
      source: 'System',
      message: 'a\ufffdb',
      extensions: { stream: 'stdout', offset: 4, raw_bytes: [97, 255, 98], gaps: [{ offset: 7, bytes: 6 }] },
    })
  })

  it('says when standard error was cut', () => {
    expect(errorsStep({ text: 'ab', bytes: 9, truncated: true }).message).toBe('ab\n[cut: 9 bytes in total]')
    expect(errorsStep({ text: 'ab', bytes: 2, truncated: false }).message).toBe('ab')
  })

  it('leaves the trace digest of the result step empty', () => {
    const step = resultStep({ ending: 'exit 0', trace_digest: 'sha256:x' }, null)
    expect(step.extensions?.['result']).toEqual({ ending: 'exit 0', trace_digest: '' })
  })
})
