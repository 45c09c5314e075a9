import { readlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isWithin } from './paths.ts'
import { boundaryRefusal } from './refusal.ts'

/** As many links as the kernel follows for one path. */
const hopsMax = 40

/** Where a path leads to. */
export interface Led {
  readonly path: string
  /** Whether it is there; if not, `path` is the first part that is missing. */
  readonly exists: boolean
  /** Directories inside the checkout on the way there. Whoever moves one of them changes where the path leads. */
  readonly through: readonly string[]
}

/**
 * Follows a path as the kernel would, one component at a time. Refuses `io` where a link on the way lies inside the
 * checkout and could be replaced there: a link cannot be made read-only. Also for a link that is not UTF-8.
 * @param from canonical directory where a relative target begins
 * @param readOnly whether nothing in the boundary can change what is at a path
 */
export async function follow(
  from: string,
  target: string,
  checkout: string,
  readOnly: (path: string) => boolean,
): Promise<Led> {
  const rest = target.split('/')
  const through: string[] = []
  let at = target.startsWith('/') ? '/' : from
  for (let hops = 0; rest.length > 0; ) {
    const name = rest.shift()
    if (name === undefined || name === '' || name === '.') continue
    if (name === '..') {
      at = dirname(at)
      continue
    }
    const next = join(at, name)
    const link = await linkAt(next)
    if (link === 'missing') return { path: next, exists: false, through }
    if (link === null) {
      if (isWithin(next, checkout)) through.push(next)
      at = next
      continue
    }
    hops += 1
    refuseLink(next, hops, !isWithin(next, checkout) || readOnly(next))
    rest.unshift(...link.target.split('/'))
    if (link.target.startsWith('/')) at = '/'
  }
  return { path: at, exists: true, through }
}

function refuseLink(path: string, hops: number, stays: boolean): void {
  if (!stays) throw boundaryRefusal('unsafe', `git would follow a link that cannot be protected: ${path}`)
  if (hops > hopsMax) throw boundaryRefusal('unsafe', `git would follow too many links: ${path}`)
}

/** Null for what is no link. What may not be looked at is as good as missing: git may not follow it either. */
async function linkAt(path: string): Promise<{ target: string } | 'missing' | null> {
  let bytes: Buffer
  try {
    bytes = await readlink(path, { encoding: 'buffer' })
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'EINVAL' ? null : 'missing'
  }
  const target = bytes.toString('utf8')
  if (Buffer.from(target).equals(bytes)) return { target }
  throw boundaryRefusal('unsafe', `a link that is not UTF-8 cannot be protected: ${JSON.stringify(path)}`)
}
