import type { Clock } from '../../seams/clock.ts'

/** What `promise` gives, or `otherwise` if it has not come after `ms` milliseconds. */
export function within<Value, Other>(
  clock: Clock,
  ms: number,
  promise: Promise<Value>,
  otherwise: Other,
): Promise<Value | Other> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => resolve(otherwise))
    promise.then(resolve, reject).finally(() => timer.cancel())
  })
}
