import * as z from 'zod'
import { workspaceLabelBytesMax } from '../limits.ts'
import { unixSeconds } from './keys.ts'
import { earns } from './refusal-issues.ts'
import { isMessage, isSingleLine } from './text.ts'

/** The two fields that start every body: a known schema string, and no requirements. @see spec/wire.md §1 */
export function header<V extends string>(v: V): { v: z.ZodLiteral<V>; requires: z.ZodTuple<[], null> } {
  return { v: z.literal(v), requires: z.tuple([]) }
}

/** A single line of at most `bytesMax` UTF-8 bytes; else `bounds`. */
export function singleLine(bytesMax: number): z.ZodString {
  return z.string().refine((text) => isSingleLine(text, bytesMax), earns('bounds'))
}

/** A message of at most `bytesMax` UTF-8 bytes; else `bounds`. */
export function message(bytesMax: number): z.ZodString {
  return z.string().refine((text) => isMessage(text, bytesMax), earns('bounds'))
}

/** The name of a workspace, as devices know it. */
export const workspaceLabel = singleLine(workspaceLabelBytesMax)

/** An integer from `min` to `max`; another integer is `bounds`. */
export function boundedInt(min: number, max: number): z.ZodInt {
  return z.int().refine((value) => value >= min && value <= max, earns('bounds'))
}

/** A counter: zero or more. */
export const count = z.int().nonnegative()

/** A list of distinct items, `malformed` if any repeats, `bounds` above `max`. */
export function distinct<T extends z.ZodType<string>>(item: T, max: number): z.ZodArray<T> {
  return z
    .array(item)
    .refine((list) => new Set(list).size === list.length)
    .refine((list) => list.length <= max, earns('bounds'))
}

/** A list of at most `max` items, else `bounds`. */
export function list<T extends z.ZodType>(item: T, max: number): z.ZodArray<T> {
  return z.array(item).refine((items) => items.length <= max, earns('bounds'))
}

/** The two times that most bodies carry. */
export const lifetime = { issued_at: unixSeconds, expires_at: unixSeconds }

/** Whether a lifetime is more than nothing and at most `secondsMax`. */
export function livesAtMost(
  secondsMax: number,
): (body: { issued_at: number; expires_at: number }) => boolean {
  return ({ issued_at, expires_at }) => expires_at > issued_at && expires_at - issued_at <= secondsMax
}

/** Whether no two of the keys are the same. */
export function allDiffer(...keys: string[]): boolean {
  return new Set(keys).size === keys.length
}
