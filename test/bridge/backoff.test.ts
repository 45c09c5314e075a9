import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs, failuresAfter } from '../../src/bridge/backoff.ts'
import { reconnectMsMax, reconnectMsMin } from '../../src/limits.ts'
import { okPrefixes } from '../../src/protocol/relay-frames.ts'

const drawing = (...bytes: number[]) => ({ bytes: () => Uint8Array.from(bytes) })
const byte = fc.nat({ max: 255 })

describe('the pause before the next attempt', () => {
  it('is between half a second and a minute, however many attempts failed and whatever is drawn', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), byte, byte, (failures, high, low) => {
        const ms = backoffMs(failures, drawing(high, low))
        expect(ms).toBeGreaterThanOrEqual(reconnectMsMin)
        expect(ms).toBeLessThanOrEqual(reconnectMsMax)
      }),
    )
  })

  it('never shrinks with one more failure, for the same draw', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), byte, byte, (failures, high, low) => {
        const draw = drawing(high, low)
        expect(backoffMs(failures + 1, draw)).toBeGreaterThanOrEqual(backoffMs(failures, draw))
      }),
    )
  })

  it('is drawn from the upper half, so that many hosts do not return at once', () => {
    expect([backoffMs(6, drawing(0, 0)), backoffMs(6, drawing(255, 255))]).toEqual([8_000, 16_000])
  })
})

describe('the number of failures', () => {
  it.each([
    [null, 1],
    ['error', 1],
    ['mute', 1],
    ['duplicate', 1],
    ['none', 1],
    ['rate-limited', 5],
    ['auth-required', 5],
    ['restricted', 5],
    ['blocked', 8],
    ['invalid', 8],
    ['pow', 8],
  ] as const)('after a first %s is as after %i', (prefix, failures) => {
    expect(failuresAfter(0, prefix)).toBe(failures)
  })

  it.each([null, 'none', ...okPrefixes] as const)('grows with each %s', (prefix) => {
    expect(failuresAfter(20, prefix)).toBe(21)
  })
})
