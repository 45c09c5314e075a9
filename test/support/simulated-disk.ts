import { dirname } from 'node:path'
import { Refusal } from '../../src/protocol/refusal.ts'
import type { AppendFile, Disk, DiskLock, FileIdentity } from '../../src/seams/disk.ts'
import { wholeOf } from './file-content.ts'

/** The mutating calls of a `Disk`, as they fail or are cut off. */
export type DiskChange = 'replace' | 'create' | 'append' | 'truncate' | 'rename' | 'remove' | 'makeDirectory'

/** What becomes of one change: it happens; it fails and nothing happened; it fails although it happened. */
export type Fate = 'done' | 'failed' | 'doubtful'

/**
 * A machine with a disk in memory that forgets at a crash what no resolved call promised to keep: a change under way
 * is then there or not, and an append may be there in part.
 */
export interface SimulatedMachine {
  /** The disk as a new process sees it. */
  boot(): Disk
  /** Ends the process: its calls never resolve any more, its locks are free. */
  crash(): void
  /** The same once `calls` more calls have been made; resolves then. */
  crashAfter(calls: number): Promise<void>
  /** Decides the fate of each change; all succeed otherwise. */
  fate: (change: DiskChange, path: string) => Fate
  /** The bytes of a file, or null. */
  peek(path: string): Uint8Array | null
  /** Puts bytes in a file behind everybody's back. */
  poke(path: string, bytes: Uint8Array | null): void
}

interface Node {
  bytes: Uint8Array | null
  ino: bigint
  changed: bigint
}

/** One life of a process on the machine. */
interface Life {
  alive: boolean
  readonly locks: Map<string, { queue: (() => void)[] }>
  /** Changes that were called and have not resolved. */
  readonly pending: Set<(kept: boolean) => void>
}

/** @param chance a number from 0 to 1, asked whenever something may go either way */
export function simulatedMachine(chance: () => number): SimulatedMachine {
  const nodes = new Map<string, Node>()
  let ticks = 0n
  let life: Life | null = null
  let countdown: { calls: number; reached: () => void } | null = null

  const touch = (path: string, bytes: Uint8Array | null, ino?: bigint): void => {
    ticks += 1n
    nodes.set(path, { bytes, ino: ino ?? ticks, changed: ticks })
  }

  const machine: SimulatedMachine = {
    fate: () => 'done',
    boot() {
      machine.crash()
      life = { alive: true, locks: new Map(), pending: new Set() }
      return diskOf(life)
    },
    crash() {
      if (life === null) return
      life.alive = false
      for (const decide of life.pending) decide(chance() < 0.5)
      life = null
      countdown?.reached()
      countdown = null
    },
    crashAfter: (calls) =>
      new Promise((reached) => {
        countdown = { calls, reached }
      }),
    peek: (path) => nodes.get(path)?.bytes ?? null,
    poke(path, bytes) {
      if (bytes === null) nodes.delete(path)
      else touch(path, bytes)
    },
  }

  const diskOf = (of: Life): Disk => {
    /** A call takes a moment, and one of a dead process never ends. */
    const moment = async (): Promise<void> => {
      if (of.alive && countdown !== null) {
        countdown.calls -= 1
        if (countdown.calls <= 0) machine.crash()
      }
      const steps = 1 + Math.floor(chance() * 4)
      for (let step = 0; step < steps; step += 1) await Promise.resolve()
      if (!of.alive) await new Promise<never>(() => {})
    }

    const change = async <T>(name: DiskChange, path: string, apply: (whole: boolean) => T): Promise<T> => {
      const fate = machine.fate(name, path)
      let cut = false
      const decide = (kept: boolean): void => {
        cut = true
        if (kept && fate !== 'failed') apply(name !== 'append' || chance() < 0.5)
      }
      of.pending.add(decide)
      await moment()
      of.pending.delete(decide)
      if (cut) return await new Promise<never>(() => {})
      if (fate === 'failed') throw new Refusal('io', `${name} failed`)
      const result = apply(true)
      if (fate === 'doubtful') throw new Refusal('io', `${name} may have failed`)
      return result
    }

    const appendFile = (path: string): AppendFile => ({
      async append(bytes) {
        await change('append', path, (whole) => {
          const kept = whole ? bytes : bytes.subarray(0, Math.floor(chance() * bytes.length))
          touch(path, Buffer.concat([contentOf(path), kept]), nodes.get(path)?.ino)
        })
      },
      async truncate(length) {
        await change('truncate', path, () =>
          touch(path, contentOf(path).slice(0, length), nodes.get(path)?.ino),
        )
      },
      size: async () => contentOf(path).length,
      close: async () => {},
    })

    const contentOf = (path: string): Uint8Array => nodes.get(path)?.bytes ?? new Uint8Array(0)

    return {
      async read(path, bytesMax) {
        await moment()
        const bytes = nodes.get(path)?.bytes ?? null
        if (bytes !== null && bytes.length > bytesMax) throw new Refusal('limit_exceeded', 'too large')
        return bytes
      },
      async replace(path, content, options) {
        await options?.meanwhile?.()
        const copy = Uint8Array.from(wholeOf(content))
        await change('replace', path, () => touch(path, copy))
      },
      create: (path, bytes) =>
        change('create', path, () => {
          if (nodes.has(path)) return false
          touch(path, Uint8Array.from(bytes))
          return true
        }),
      async openAppend(path) {
        if (!nodes.has(path)) await change('create', path, () => touch(path, new Uint8Array(0)))
        return appendFile(path)
      },
      async list(directory) {
        await moment()
        if (!nodes.has(directory)) return null
        const inside = [...nodes.keys()].filter((path) => dirname(path) === directory)
        return inside.map((path) => path.slice(directory.length + 1)).sort()
      },
      async makeDirectory(path) {
        if (!nodes.has(path)) await change('makeDirectory', path, () => touch(path, null))
      },
      syncAncestors: async () => {
        await moment()
      },
      async checkDirectory(path) {
        await moment()
        if (nodes.get(path)?.bytes !== null) throw new Refusal('unsafe_path', `${path} is no directory`)
      },
      async identity(path) {
        await moment()
        return identityOf(nodes.get(path))
      },
      async rename(from, to) {
        await change('rename', from, () => {
          touch(to, contentOf(from), nodes.get(from)?.ino)
          nodes.delete(from)
        })
      },
      removeTree: (path) =>
        change('remove', path, () => {
          for (const inside of [...nodes.keys()]) {
            if (inside === path || inside.startsWith(`${path}/`)) nodes.delete(inside)
          }
        }),
      remove: (path) => change('remove', path, () => nodes.delete(path)),
      sync: async () => {
        await moment()
      },
      async lock(path, _waitMs, options) {
        if (!nodes.has(path)) {
          if (options?.create !== true) throw new Refusal('io', `${path} is missing`)
          await change('create', path, () => touch(path, new Uint8Array(0)))
        }
        await moment()
        return await takeLock(of, path)
      },
      watch: () => () => {},
    }
  }

  return machine
}

async function takeLock(of: Life, path: string): Promise<DiskLock> {
  const held = of.locks.get(path)
  if (held === undefined) of.locks.set(path, { queue: [] })
  else await new Promise<void>((resolve) => held.queue.push(resolve))
  return {
    path,
    stillThere: async () => true,
    async release() {
      const next = of.locks.get(path)?.queue.shift()
      if (next === undefined) of.locks.delete(path)
      else next()
    },
  }
}

function identityOf(node: Node | undefined): FileIdentity | null {
  if (node === undefined) return null
  const { ino, changed, bytes } = node
  return { dev: 1n, ino, size: BigInt(bytes?.length ?? 0), mtimeNs: changed, ctimeNs: changed }
}
