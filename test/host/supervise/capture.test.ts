import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place, runScript, startScript } from '../../support/sandboxed.ts'

let place: Place

beforeEach(() => {
  place = makePlace()
})

afterEach(() => {
  place.remove()
})

describe('output', () => {
  it('comes with its offsets, whole', async () => {
    const end = await runScript(place, 'for i in 1 2 3; do echo line $i; sleep 0.05; done')
    expect(end.output).toBe('line 1\nline 2\nline 3\n')
    let offset = 0
    for (const taken of end.deliveries) {
      expect(taken.offset).toBe(offset)
      offset += taken.bytes.length
    }
  })

  it('is a real pipe, which a command may open by name', async () => {
    const end = await runScript(place, 'echo out > /dev/stdout; echo err > /dev/stderr; test -p /dev/stdout')
    expect(end).toMatchObject({
      ending: 'exit 0',
      output: 'out\n',
      stderr: { text: 'err\n', bytes: 4, truncated: false },
    })
  })

  it('of 1 GiB that nobody takes is drained, counted and not kept', async () => {
    const before = process.memoryUsage().rss
    const run = await startScript(place, 'yes | head -c 1073741824', { wallSeconds: 60 })
    const end = await run.ended
    expect(end.ending).toBe('exit 0')
    const [taken] = end.last
    expect(taken?.bytes.length).toBe(65_536)
    expect(taken?.gaps).toEqual([{ offset: 65_536, bytes: 1_073_741_824 - 65_536 }])
    expect(process.memoryUsage().rss - before).toBeLessThan(67_108_864)
  }, 60_000)

  it('on both streams without an end is drained until the deadline', async () => {
    const end = await runScript(place, 'yes out & yes err >&2', { wallSeconds: 1, streamBytes: 1_024 })
    expect(end).toMatchObject({ ending: 'timed out', group_clear: true })
    expect(end.stderr.truncated).toBe(true)
    expect(end.stderr.text).toHaveLength(1_024)
    expect(end.stderr.bytes).toBeGreaterThan(1_024)
  })

  it('of an error stream drops a character that the cap cuts', async () => {
    const end = await runScript(place, 'head -c 1023 /dev/zero | tr "\\0" x >&2; printf "é" >&2', {
      streamBytes: 1_024,
    })
    expect(end.stderr).toEqual({ text: 'x'.repeat(1_023), bytes: 1_025, truncated: true })
  })
})

describe('memory', () => {
  it('of one process is bounded by its own limit', async () => {
    const end = await runScript(place, 'head -c 200000000 /dev/zero | tail -c 200000000 | wc -c', {
      memoryBytes: 67_108_864,
    })
    expect(end.output.trim()).not.toBe('200000000')
    expect(end.group_clear).toBe(true)
  })

  it('of a whole tree ends the run', async () => {
    const each = '(head -c 45000000 /dev/zero; sleep 20) | tail -c 45000000 >/dev/null &'
    const end = await runScript(place, `${each} ${each} ${each} wait`, { memoryBytes: 67_108_864 })
    expect(end).toMatchObject({
      memory_exceeded: true,
      ending: 'stopped by a signal',
      exit_code: null,
      group_clear: true,
    })
  })

  it('counts temporary files, which are bounded too', async () => {
    const end = await runScript(place, 'head -c 20000000 /dev/zero > /tmp/big; wc -c < /tmp/big', {
      memoryBytes: 67_108_864,
    })
    expect(end.output.trim()).toBe('8388608')
  })

  it('is told with the other bounds that held', async () => {
    expect((await runScript(place, ':')).enforced).toEqual({
      data_bytes: 268_435_456,
      tmpfs_bytes: 33_554_432,
      processes: 512,
      file_bytes: 8_589_934_592,
      memory_watch_ms: 100,
      scope: null,
    })
  })
})
