import { realpath, stat } from 'node:fs/promises'
import { Refusal } from '../protocol/refusal.ts'
import { errorCode, ioRefusal } from './failure.ts'

/** The canonical path of an existing directory. @throws `io` when there is none at `path` */
export async function realDirectory(path: string): Promise<string> {
  const found = await stat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null
    throw ioRefusal('look at', path, error)
  })
  if (found === null || !found.isDirectory()) throw new Refusal('io', `${path} is not a directory`)
  return await realpath(path)
}
