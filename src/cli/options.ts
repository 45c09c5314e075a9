import { InvalidArgumentError } from 'commander'

/** An option that may be given once; a second one is a usage error. */
export function once<T>(parse: (value: string) => T): (value: string, previous: T | undefined) => T {
  return (value, previous) => {
    if (previous !== undefined) throw new InvalidArgumentError('It was given twice.')
    return parse(value)
  }
}

/** A value that is there and is not itself an option. */
export const word = once((value) => {
  if (value === '') throw new InvalidArgumentError('It is empty.')
  if (value.startsWith('--')) throw new InvalidArgumentError('A value is missing.')
  return value
})

/** Any text at all, even one that starts with dashes. */
export const anyText = once((value) => value)

/** A whole number within bounds, both inclusive. */
export function wholeNumber(
  min: number,
  max: number,
): (value: string, previous: number | undefined) => number {
  return once((value) => {
    if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('Not a whole number.')
    const number = Number(value)
    if (number < min || number > max) throw new InvalidArgumentError(`Between ${min} and ${max}.`)
    return number
  })
}

/** A whole number whose bounds the command itself checks and refuses. */
export const anyWholeNumber = once((value) => {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('Not a whole number.')
  return Number(value)
})

/** An option that may be repeated; the values in the order given. */
export function many(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value]
}

/** A repeated `LABEL=PATH`. */
export function manyLabelled(
  value: string,
  previous: { label: string; path: string }[] | undefined,
): { label: string; path: string }[] {
  return [...(previous ?? []), labelled(value)]
}

/** Splits `LABEL=PATH` at the first equals sign. */
export function labelled(value: string): { label: string; path: string } {
  const at = value.indexOf('=')
  if (at < 1 || at === value.length - 1) throw new InvalidArgumentError('Write it as LABEL=PATH.')
  return { label: value.slice(0, at), path: value.slice(at + 1) }
}

/** `HOST:PORT`, `:PORT` or `PORT`; an IPv6 host stands in brackets. The host defaults to loopback. */
export const listenAddress = once((value) => {
  const found = /^(?:(\[[0-9a-fA-F:]+\]|[^:[\]]*):)?(\d{1,5})$/.exec(value)
  const port = Number(found?.[2] ?? Number.NaN)
  if (found === null || !(port <= 65_535)) throw new InvalidArgumentError('Write it as HOST:PORT.')
  const host = found[1] === undefined || found[1] === '' ? '127.0.0.1' : found[1].replace(/^\[|\]$/g, '')
  return { host, port }
})
