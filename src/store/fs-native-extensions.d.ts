declare module 'fs-native-extensions' {
  /** Tries to take an exclusive open-file-description lock on the whole file. */
  export function tryLock(fd: number): boolean
}
