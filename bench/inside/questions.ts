import type { DiskUse } from './watched-disk.ts'

/** What a bench asks of the service that it measures. */
export type Question = { readonly number: number } & (
  | {
      readonly about:
        | 'host'
        | 'counters'
        | 'profile'
        | 'shares'
        | 'count'
        | 'calls'
        | 'watch'
        | 'stalls'
        | 'stop'
    }
  | { readonly about: 'usage'; readonly collect: boolean }
  | { readonly about: 'ahead'; readonly ms: number }
  | { readonly about: 'slow'; readonly path: string | null; readonly ms: number }
)

export interface Reply {
  readonly number: number
  readonly value: unknown
}

/** What the service has used by now. Bytes, but for the processor's milliseconds. */
export interface Usage {
  readonly cpuMs: number
  readonly rss: number
  readonly heapUsed: number
  readonly external: number
  readonly arrayBuffers: number
  readonly disk: DiskUse
}
