import type * as z from 'zod'
import { Refusal } from './refusal.ts'

/** Codes that the shape of a body can earn, the gravest first. */
const byGravity = ['malformed', 'forbidden', 'bounds'] as const
export type ShapeCode = (typeof byGravity)[number]

/** Options for `refine`: the code that a breach of this rule earns. Rules without one are `malformed`. */
export function earns(
  code: ShapeCode,
  path?: PropertyKey[],
): { params: { code: ShapeCode }; path?: PropertyKey[] } {
  return path === undefined ? { params: { code } } : { params: { code }, path }
}

/**
 * The one refusal that a list of schema issues earns: `malformed` before `forbidden` before `bounds`, the first
 * issue of the gravest code naming the field.
 * @see spec/wire.md §1
 */
export function refusalOf(issues: readonly z.core.$ZodIssue[], what: string): Refusal {
  for (const code of byGravity) {
    const issue = issues.find((candidate) => codeOf(candidate) === code)
    if (issue === undefined) continue
    const field = fieldOf(issue)
    return new Refusal(
      code,
      `${what}: ${code}${field === '' ? '' : ` at ${field}`}`,
      field === '' ? {} : { field },
    )
  }
  return new Refusal('malformed', `${what}: malformed`)
}

function codeOf(issue: z.core.$ZodIssue): ShapeCode {
  if (issue.code !== 'custom') return 'malformed'
  const code: unknown = issue.params?.['code']
  return byGravity.find((known) => known === code) ?? 'malformed'
}

/** Dotted path; names that a peer made up are shown only when they look like field names. */
function fieldOf(issue: z.core.$ZodIssue): string {
  const path = [...issue.path]
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  if (unknown !== undefined) path.push(/^[A-Za-z_]{1,32}$/.test(unknown) ? unknown : '(unknown)')
  return path.map(String).join('.')
}
