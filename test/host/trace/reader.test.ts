import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTrace, readWholeTrace } from '../../../src/host/trace/reader.ts'

const session = (over: object = {}) =>
  JSON.stringify({
    record: 'session',
    schema_version: 'ATIF-v1.8',
    at: 1000,
    session: { id: 'task-1-1', model: 'none', door: 'bounded-command', repository: '/w', version: '0.1.0' },
    ...over,
  })
const step = (message = 'hello', source = 'User', at = 2000) =>
  JSON.stringify({ record: 'step', step: { at, source, message } })
const end = (over: object = {}) => JSON.stringify({ record: 'end', at: 4500, state: 'ended', ...over })
const bytes = (...lines: string[]) => new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''))
const bad = (line: number[]) => Uint8Array.from([...line, 0x0a])
const join = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => Array.from(part)))

describe('reading a trace', () => {
  it('takes a whole one', () => {
    expect(readTrace(bytes(session(), step(), end()))).toMatchObject({
      faults: [],
      whole: true,
      state: 'ended',
      seconds: 3,
      directive: 'hello',
    })
  })

  it.each<[string, Uint8Array, object[]]>([
    ['torn', join(bytes(session(), end()), new TextEncoder().encode(step())), [{ line: 3, kind: 'torn' }]],
    ['torn, though blank', join(bytes(session()), Uint8Array.of(0x20)), [{ line: 2, kind: 'torn' }]],
    ['not_utf8', join(bytes(session()), bad([0x22, 0xff, 0x22])), [{ line: 2, kind: 'not_utf8' }]],
    ['not_json', bytes(session(), '{"record":'), [{ line: 2, kind: 'not_json' }]],
    ['not_json for no object', bytes(session(), '[1]'), [{ line: 2, kind: 'not_json' }]],
    ['unknown_record', bytes(session(), '{"record":"note"}'), [{ line: 2, kind: 'unknown_record' }]],
    ['unknown_record after the end', bytes(session(), end(), '{}'), [{ line: 3, kind: 'unknown_record' }]],
    [
      'before_session',
      bytes(step(), end(), session()),
      [
        { line: 1, kind: 'before_session' },
        { line: 2, kind: 'before_session' },
      ],
    ],
    [
      'unsupported_version',
      bytes(session({ schema_version: 'ATIF-v1.9' }), session()),
      [{ line: 1, kind: 'unsupported_version' }],
    ],
    ['bad_session', bytes(session({ session: { id: 'x' } }), session()), [{ line: 1, kind: 'bad_session' }]],
    ['bad_step', bytes(session(), step('x', 'user')), [{ line: 2, kind: 'bad_step' }]],
    ['bad_step before a session', bytes(step('x', 'user'), session()), [{ line: 1, kind: 'before_session' }]],
    ['repeated_session', bytes(session(), session()), [{ line: 2, kind: 'repeated_session' }]],
    [
      'after_end',
      bytes(session(), end(), step(), session()),
      [
        { line: 3, kind: 'after_end' },
        { line: 4, kind: 'after_end' },
      ],
    ],
    [
      'a bad step after the end',
      bytes(session(), end(), step('x', 'user')),
      [{ line: 3, kind: 'after_end' }],
    ],
    ['repeated_end', bytes(session(), end(), end({ state: 'other' })), [{ line: 3, kind: 'repeated_end' }]],
  ])('names %s', (_name, log, faults) => {
    const read = readTrace(log)
    expect(read?.faults).toEqual(faults)
    expect(read?.whole).toBe(false)
  })

  it('takes every declared version up to 1.8, and none', () => {
    for (let minor = 0; minor <= 8; minor += 1) {
      expect(readTrace(bytes(session({ schema_version: `ATIF-v1.${minor}` })))?.faults).toEqual([])
    }
    expect(readTrace(bytes(session({ schema_version: undefined })))?.faults).toEqual([])
  })

  it('skips blank lines without a fault but counts them', () => {
    expect(readTrace(bytes('', session(), '', ' \t', '{'))?.faults).toEqual([{ line: 5, kind: 'not_json' }])
  })

  it('is no trace without a session record', () => {
    expect(readTrace(bytes(step(), end()))).toBeNull()
    expect(readTrace(new Uint8Array(0))).toBeNull()
  })

  it('is interrupted without an end, timed to its last step, and never negative', () => {
    expect(readTrace(bytes(session(), step('x', 'User', 3999)))).toMatchObject({
      state: 'interrupted',
      seconds: 2,
    })
    expect(readTrace(bytes(session(), step('x', 'User', 0)))?.seconds).toBe(0)
  })

  it('takes an end without a state as ended, and one with a foreign state as that', () => {
    expect(readTrace(bytes(session(), '{"record":"end"}'))).toMatchObject({ state: 'ended', whole: true })
    expect(readTrace(bytes(session(), end({ state: 'stopped' })))).toMatchObject({
      state: 'stopped',
      whole: false,
    })
    expect(readTrace(bytes(session(), end({ state: 7 })))?.whole).toBe(false)
  })

  it('keeps every step before the place where it is cut', () => {
    const log = bytes(session(), step('one'), step('two'), end())
    const ends = Array.from(log.entries())
      .filter(([, byte]) => byte === 0x0a)
      .map(([index]) => index + 1)
    fc.assert(
      fc.property(fc.integer({ min: ends[0] ?? 0, max: log.length }), (length) => {
        const read = readTrace(log.subarray(0, length))
        const whole = ends.slice(1, 3).filter((at) => at <= length).length
        expect(read?.steps.length).toBe(whole)
        expect(read?.faults.map(({ kind }) => kind)).toEqual(ends.includes(length) ? [] : ['torn'])
      }),
    )
  })
})

describe('reading a trace strictly', () => {
  it('names the first fault and counts the others', () => {
    expect(() => readWholeTrace(bytes(session(), '{', '[]', end()))).toThrow(/line 2: not_json and 1 more/)
    expect(() => readWholeTrace(bytes(session(), step()))).toThrow(/interrupted/)
    expect(() => readWholeTrace(bytes(end()))).toThrow(/no session record/)
    expect(readWholeTrace(bytes(session(), end())).whole).toBe(true)
  })
})
