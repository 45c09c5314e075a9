import { type FileHandle, open, rename } from 'node:fs/promises'

/** What one durable replacement of a file cannot avoid: write, fsync, rename, fsync of the directory. */
export async function durableReplace(directory: string, name: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${directory}/.${name}.tmp`
  const file = await open(temporary, 'w', 0o600)
  await file.write(bytes)
  await file.sync()
  await file.close()
  await rename(temporary, `${directory}/${name}`)
  const parent = await open(directory, 'r')
  await parent.sync()
  await parent.close()
}

/** What one durable append cannot avoid: write and fdatasync. */
export async function durableAppend(file: FileHandle, bytes: Uint8Array): Promise<void> {
  await file.write(bytes)
  await file.datasync()
}
