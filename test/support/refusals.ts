import { expect } from 'vitest'
import { Refusal, type RefusalCode } from '../../src/protocol/refusal.ts'

/** Proves that `action` refuses with `code` and gives the refusal for a closer look. */
export async function refused(
  code: RefusalCode,
  action: Promise<unknown> | (() => unknown),
): Promise<Refusal> {
  let caught: unknown
  let result: unknown
  try {
    result = await (typeof action === 'function' ? action() : action)
  } catch (error) {
    caught = error
  }
  if (!(caught instanceof Refusal)) {
    throw caught ?? new Error(`expected a refusal ${code}, got ${JSON.stringify(result)}`)
  }
  expect(caught.code, caught.message).toBe(code)
  return caught
}
