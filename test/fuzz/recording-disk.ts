import type { Disk } from '../../src/seams/disk.ts'

/** The real disk, with a note of every change that is asked of it. */
export interface RecordingDisk {
  readonly disk: Disk
  /** The paths that were written, renamed or removed, oldest first. */
  readonly changes: string[]
}

export function recordingDisk(real: Disk): RecordingDisk {
  const changes: string[] = []
  const noting =
    <A extends [string, ...unknown[]], R>(act: (...args: A) => R) =>
    (...args: A): R => {
      changes.push(args[0])
      return act(...args)
    }
  const disk: Disk = {
    ...real,
    replace: noting(real.replace),
    create: noting(real.create),
    rename: noting(real.rename),
    remove: noting(real.remove),
    async openAppend(path, options) {
      const file = await real.openAppend(path, options)
      return {
        ...file,
        append: (bytes) => {
          changes.push(path)
          return file.append(bytes)
        },
        truncate: (length) => {
          changes.push(path)
          return file.truncate(length)
        },
      }
    },
  }
  return { disk, changes }
}
