import { access, constants, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const made: string[] = []

afterAll(async () => {
  for (const path of made.splice(0)) await rm(path, { recursive: true, force: true })
})

/**
 * A private (0700) temporary directory, by its canonical path, removed when the test file ends. It works wherever a
 * test does: in a test, a hook, or at the top of the file.
 */
export async function tempDir(): Promise<string> {
  return await makeIn(tmpdir())
}

/** The same in memory where the machine has such a place: for tests that wait for a disk thousands of times. */
export async function memoryDir(): Promise<string> {
  const there = await access('/dev/shm', constants.W_OK).then(
    () => true,
    () => false,
  )
  return await makeIn(there ? '/dev/shm' : tmpdir())
}

async function makeIn(parent: string): Promise<string> {
  const path = await mkdtemp(join(await realpath(parent), 'drawbridge-test-'))
  made.push(path)
  return path
}
