import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstLacking, parseRights, presets, rights, rightsSchema } from '../../src/protocol/rights.ts'
import { refused } from '../support/refusals.ts'

describe('a list of rights', () => {
  it('is any nonempty part of the six, in their order', () => {
    fc.assert(
      fc.property(fc.subarray([...rights]), (part) => {
        expect(rightsSchema.safeParse(part).success).toBe(part.length > 0)
      }),
    )
  })

  it('is nothing in another order, or with one twice', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...rights), { minLength: 2, maxLength: 8 }), (list) => {
        const sorted = rights.filter((right) => list.includes(right))
        expect(rightsSchema.safeParse(list).success).toBe(list.join() === sorted.join())
      }),
    )
  })
})

describe('the rights that a person names', () => {
  it.each([
    ['standard', ['observe', 'operate', 'terminal', 'review']],
    ['pairing', ['observe', 'operate', 'terminal', 'review', 'access_read', 'access_admin']],
    ['admin', ['access_read', 'access_admin']],
    ['observe', ['observe']],
    ['review, observe', ['observe', 'review']],
    [' admin ', ['access_read', 'access_admin']],
  ])('%j are %j', (text, list) => {
    expect(parseRights(text)).toEqual(list)
  })

  it.each(['', ',', 'observe,', 'observe,observe', 'Observe', 'standard,admin', 'all'])(
    'refuse %j',
    async (text) => {
      const refusal = await refused('malformed', () => parseRights(text))
      expect(refusal.hint).toContain('access_admin')
    },
  )

  it('always make a canonical list', () => {
    for (const name of Object.keys(presets))
      expect(rightsSchema.safeParse(parseRights(name)).success).toBe(true)
  })
})

it('the first lacking right is the first in canonical order', () => {
  expect(firstLacking(['observe', 'review', 'access_admin'], ['observe'])).toBe('review')
  expect(firstLacking(['access_admin', 'operate'], ['observe'])).toBe('operate')
  expect(firstLacking(['observe'], ['observe', 'operate'])).toBeNull()
  expect(firstLacking([], [])).toBeNull()
})
