import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { livingOf, processIdentitySchema } from '../../../src/host/supervise/process-identity.ts'

it('a killed owner takes its whole boundary along, within a second', async () => {
  const program = fileURLToPath(new URL('../../fixtures/sandboxed-owner.ts', import.meta.url))
  const owner = spawn(process.execPath, ['--import', 'tsx', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(owner.stdout, 'data')
  const { identity: told, root } = JSON.parse(String(line))
  try {
    const identity = processIdentitySchema.parse(told)
    await expect.poll(() => livingOf(identity).length, { timeout: 5_000 }).toBeGreaterThanOrEqual(6)
    owner.kill('SIGKILL')
    await once(owner, 'exit')
    await expect.poll(() => livingOf(identity), { timeout: 1_000, interval: 20 }).toEqual([])
  } finally {
    owner.kill('SIGKILL')
    rmSync(root, { recursive: true, force: true })
  }
})
