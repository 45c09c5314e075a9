import { type Profiler, Session } from 'node:inspector/promises'

/** What processor time went into. The first that fits a call or one above it on the stack. */
const parts: readonly (readonly [string, RegExp])[] = [
  ['signature', /\/protocol\/(signer|known-signatures)\.ts$/],
  ['NIP-44', /\/protocol\/nip44\.ts$/],
  ['disk', /\/src\/store\/(?!tasks)/],
  ['trace', /\/host\/trace\//],
  ['JSON and schemas', /\/protocol\/(strict-json|json-scan|jcs|body|request-parts)\.ts$|node_modules\/zod/],
  ['sockets', /node_modules\/ws\/|^node:(net|stream|internal\/stream)/],
]

/** Milliseconds of one thread by what it did; `idle` is what it waited. */
export type Shares = Record<string, number>

/** Takes a sample of this process's stack five thousand times a second until the end is asked for. */
export async function profile(): Promise<() => Promise<Shares>> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 200 })
  await session.post('Profiler.start')
  return async () => {
    const { profile: taken } = await session.post('Profiler.stop')
    session.disconnect()
    return sharesOf(taken)
  }
}

/** How often each function of the given files ran, until the end is asked for. Slows everything down. */
export async function countCalls(files: RegExp): Promise<() => Promise<Record<string, number>>> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    await session.post('Profiler.stopPreciseCoverage')
    session.disconnect()
    const counts: Record<string, number> = {}
    for (const { url, functions } of result) {
      if (!files.test(url)) continue
      const file = url.slice(url.lastIndexOf('/') + 1)
      for (const { functionName, ranges } of functions)
        if (functionName !== '') counts[`${file} ${functionName}`] = ranges[0]?.count ?? 0
    }
    return counts
  }
}

function sharesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Shares {
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const known = new Map<number, string | null>()
  const partOf = (id: number): string | null => {
    const found = known.get(id)
    if (found !== undefined) return found
    const node = byId.get(id)
    const own = node === undefined ? null : partOfCall(node.callFrame)
    const parent = parents.get(id)
    const part = own ?? (parent === undefined ? null : partOf(parent))
    known.set(id, part)
    return part
  }
  const shares: Shares = {}
  samples.forEach((id, index) => {
    const part = partOf(id) ?? 'the rest'
    shares[part] = (shares[part] ?? 0) + (timeDeltas[index] ?? 0) / 1000
  })
  return shares
}

function partOfCall({ functionName, url }: Profiler.ProfileNode['callFrame']): string | null {
  if (functionName === '(idle)') return 'idle'
  if (functionName === '(garbage collector)') return 'garbage collection'
  if (functionName === '(program)') return 'system calls and native code'
  return parts.find(([, file]) => file.test(url))?.[0] ?? null
}
