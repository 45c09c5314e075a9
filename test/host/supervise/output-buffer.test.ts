import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createErrorCapture } from '../../../src/host/supervise/error-capture.ts'
import { createOutputBuffer } from '../../../src/host/supervise/output-buffer.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('output', () => {
  it('of the page’s example: cap 4, three writes before one take', () => {
    const buffer = createOutputBuffer(4)
    for (const text of ['abc', 'defgh', 'ij']) buffer.write(bytes(text))
    expect(buffer.take()).toEqual({ offset: 0, bytes: bytes('abcd'), gaps: [{ offset: 4, bytes: 6 }] })
    buffer.write(bytes('k'))
    expect(buffer.take()).toEqual({ offset: 10, bytes: bytes('k'), gaps: [] })
    expect(buffer.take()).toBeNull()
  })

  it('is not changed by what the writer does with its memory later', () => {
    const buffer = createOutputBuffer(10)
    const memory = bytes('abc')
    buffer.write(memory)
    memory.fill(0)
    expect(buffer.take()?.bytes).toEqual(bytes('abc'))
  })

  it('accounts for every byte that was ever written, in order', () => {
    const actions = fc.array(fc.oneof(fc.uint8Array({ maxLength: 12 }), fc.constant('take' as const)))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), actions, (cap, steps) => {
        const buffer = createOutputBuffer(cap)
        const written: number[] = []
        let told = 0
        const check = (): void => {
          const taken = buffer.take()
          if (taken === null) return
          expect(taken.offset).toBe(told)
          expect(taken.bytes.length).toBeLessThanOrEqual(cap)
          expect([...taken.bytes]).toEqual(written.slice(told, told + taken.bytes.length))
          told += taken.bytes.length
          for (const gap of taken.gaps) {
            expect(gap.offset).toBe(told)
            expect(gap.bytes).toBeGreaterThan(0)
            told += gap.bytes
          }
        }
        for (const step of [...steps, 'take' as const]) {
          if (step === 'take') check()
          else {
            buffer.write(step)
            written.push(...step)
          }
        }
        expect(told).toBe(written.length)
      }),
    )
  })
})

describe('errors', () => {
  it('are kept from the beginning and counted to the end', () => {
    const capture = createErrorCapture(5)
    for (const text of ['abc', 'def', 'ghi']) capture.write(bytes(text))
    expect(capture.finish()).toEqual({ text: 'abcde', bytes: 9, truncated: true })
  })

  it('are text with replacement characters, without a character that was cut', () => {
    const capture = createErrorCapture(6)
    capture.write(Uint8Array.of(0xef, 0xbb, 0xbf, 0xff, 0x61, 0xe2, 0x82, 0xac))
    expect(capture.finish()).toEqual({ text: '\ufeff\ufffda', bytes: 8, truncated: true })
  })
})
