import { InvalidArgumentError } from 'commander'
import { describe, expect, it } from 'vitest'
import { labelled, listenAddress, many, wholeNumber, word } from '../../src/cli/options.ts'

describe('option values', () => {
  it('an option given twice is a usage error', () => {
    expect(word('a', undefined)).toBe('a')
    expect(() => word('b', 'a')).toThrow(InvalidArgumentError)
  })

  it.each(['', '--json'])('a value that is missing is a usage error: %j', (value) => {
    expect(() => word(value, undefined)).toThrow(InvalidArgumentError)
  })

  it.each(['', '-1', '1.5', '1e3', ' 4', '0x10', '0', '101'])('not a whole number in bounds: %j', (value) => {
    expect(() => wholeNumber(1, 100)(value, undefined)).toThrow(InvalidArgumentError)
  })

  it('a whole number at either bound is taken', () => {
    expect(wholeNumber(1, 100)('1', undefined)).toBe(1)
    expect(wholeNumber(1, 100)('100', undefined)).toBe(100)
  })

  it('a repeatable option keeps the order given', () => {
    expect(many('b', many('a', undefined))).toEqual(['a', 'b'])
  })

  it('a label ends at the first equals sign', () => {
    expect(labelled('demo=/srv/a=b')).toEqual({ label: 'demo', path: '/srv/a=b' })
    for (const value of ['demo', '=x', 'demo=']) expect(() => labelled(value)).toThrow(InvalidArgumentError)
  })

  it.each([
    ['127.0.0.1:7777', { host: '127.0.0.1', port: 7777 }],
    ['7777', { host: '127.0.0.1', port: 7777 }],
    [':0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:7777', { host: '::1', port: 7777 }],
    ['localhost:1', { host: 'localhost', port: 1 }],
  ])('an address to listen on: %s', (value, address) => {
    expect(listenAddress(value, undefined)).toEqual(address)
  })

  it.each(['host', '1.2.3.4:', '1.2.3.4:65536', '::1:80', 'a b:c'])('not an address: %s', (value) => {
    expect(() => listenAddress(value, undefined)).toThrow(InvalidArgumentError)
  })
})
