import * as z from 'zod'
import { Refusal } from './refusal.ts'

/** Every right, in canonical order. No right implies another. @see spec/wire.md §3 */
export const rights = ['observe', 'operate', 'terminal', 'review', 'access_read', 'access_admin'] as const
export type Right = (typeof rights)[number]

/** Named lists of rights. @see spec/wire.md §3 */
export const presets = {
  standard: ['observe', 'operate', 'terminal', 'review'],
  pairing: [...rights],
  admin: ['access_read', 'access_admin'],
} as const satisfies Record<string, readonly Right[]>

/** One right. */
export const rightSchema = z.enum(rights)

/** A list of rights: nonempty, duplicate free, in canonical order; else `malformed`. @see spec/wire.md §3 */
export const rightsSchema = z.array(rightSchema).refine(isCanonical)

/**
 * The rights that a person names: a preset, or a comma-separated list in any order, which comes back in canonical
 * order. Refuses `malformed` for an unknown right, a repeated one, or none.
 */
export function parseRights(list: string): Right[] {
  const preset = Object.entries(presets).find(([name]) => name === list.trim())
  if (preset !== undefined) return [...preset[1]]
  const names = list.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !rights.some((right) => right === name))
  if (unknown !== undefined || new Set(names).size !== names.length) {
    throw new Refusal('malformed', 'rights are a preset or distinct names separated by commas', {
      field: 'rights',
      hint: `presets: ${Object.keys(presets).join(', ')}; rights: ${rights.join(', ')}`,
    })
  }
  return rights.filter((right) => names.includes(right))
}

/** The first of `wanted`, in canonical order, that `held` lacks. */
export function firstLacking(wanted: readonly Right[], held: readonly Right[]): Right | null {
  return rights.find((right) => wanted.includes(right) && !held.includes(right)) ?? null
}

function isCanonical(list: readonly Right[]): boolean {
  const places = list.map((right) => rights.indexOf(right))
  return places.length > 0 && places.every((place, index) => index === 0 || place > (places[index - 1] ?? -1))
}
