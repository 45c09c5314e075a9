import type { Disk } from '../seams/disk.ts'
import type { HomePaths } from './paths.ts'
import type { RelayState } from './relay-state.ts'

/** What `run/ready.json` says; it is there from when the service is ready until it stops. */
export interface ReadyFile {
  readonly schema: 'drawbridge.ready.v1'
  readonly pid: number
  readonly host: string
  readonly owner: string
  readonly relays: readonly { readonly url: string; readonly state: RelayState['state'] }[]
  /** Unix seconds. */
  readonly at: number
}

/** Says that the service is ready. */
export async function writeReadyFile(
  disk: Disk,
  paths: HomePaths,
  ready: Omit<ReadyFile, 'schema'>,
): Promise<void> {
  const file: ReadyFile = { schema: 'drawbridge.ready.v1', ...ready }
  await disk.replace(paths.ready, new TextEncoder().encode(`${JSON.stringify(file)}\n`))
}

/** Takes it back, also after a service that crashed. */
export async function removeReadyFile(disk: Disk, paths: HomePaths): Promise<void> {
  await disk.remove(paths.ready)
}
