/** A promise and what settles it. */
export interface Promised<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
}

/** A promise that is settled from outside. */
export function promised<T>(): Promised<T> {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
