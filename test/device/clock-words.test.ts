import { describe, expect, it } from 'vitest'
import { duration, silenceWords, skewWords } from '../../src/device/clock-words.ts'

const now = 1_795_000_000
const sign = (observedAt: number, live: boolean, heardAt = now) => ({
  observedAt,
  heardAt,
  live,
  generation: 1,
})

describe('why there was no answer', () => {
  it.each([
    ['nothing was ever heard', null, 'no sign of life'],
    ['live presence agrees', sign(now - 1, true), 'though the host is there'],
    [
      'live presence is 31 s ahead',
      sign(now + 31, true),
      "31 seconds behind the host's, which is not the reason",
    ],
    [
      'live presence is 55 s ahead',
      sign(now + 55, true),
      "55 seconds behind the host's, which is not the reason",
    ],
    [
      'live presence is 55 s behind',
      sign(now - 55, true),
      "55 seconds ahead of the host's, which is not the reason",
    ],
    ['live presence is 56 s ahead', sign(now + 56, true), 'give or take 5: that may be the reason'],
    ['live presence is 65 s behind', sign(now - 65, true), 'give or take 5: that may be the reason'],
    ['live presence is 66 s behind', sign(now - 66, true), '66 seconds ahead of the host'],
    ['stored presence is 31 s ahead', sign(now + 31, false), 'at least 31 seconds behind'],
    ['live presence is 10 minutes behind', sign(now - 600, true), '10 minutes ahead of the host'],
    ['stored presence is from the future', sign(now + 90, false), '90 seconds behind the host'],
    ['stored presence is as old as presence gets', sign(now - 60, false), 'though the host is there'],
    ['stored presence is older', sign(now - 90, false), 'last here 90 seconds ago'],
    ['stored presence is from last week', sign(now - 604_800, false), 'last here 7 days ago'],
  ])('when %s', (_, heard, words) => {
    expect(silenceWords(heard, now)).toContain(words)
  })

  it('is never said to be a clock that is less than 60 s off', () => {
    for (let off = -55; off <= 55; off += 1)
      expect(silenceWords(sign(now + off, true), now)).not.toMatch(/answers nothing|set the clock/)
  })

  it('names the direction and the remedy', () => {
    expect(skewWords(-61)).toMatch(/61 seconds ahead of .* set the clock/)
    expect(skewWords(61)).toMatch(/61 seconds behind .* set the clock/)
  })
})

it.each([
  [0, '0 seconds'],
  [1, '1 second'],
  [119, '119 seconds'],
  [120, '2 minutes'],
  [600, '10 minutes'],
  [7_199, '120 minutes'],
  [86_400, '24 hours'],
  [172_800, '2 days'],
])('%i seconds is %s', (seconds, words) => {
  expect(duration(seconds)).toBe(words)
})
