import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { artifactFaults, readArtifact, readManifest } from '../../../src/host/artifacts/read.ts'
import { sha256Digest } from '../../../src/protocol/digest.ts'
import { realDisk } from '../../../src/store/disk.ts'
import type { Task } from '../../../src/store/tasks/task.ts'
import { type Keeping, keeping } from '../../support/kept-changes.ts'

let store: string
let workspace: string
let at: Keeping['at']
let kept: Keeping['kept']

beforeEach(async () => {
  const made = await keeping()
  store = made.store
  workspace = made.workspace
  at = made.at
  kept = made.kept
})

describe('reading back', () => {
  it('gives the exact bytes after the workspace is gone', async () => {
    const { task } = await kept(() => writeFileSync(at('list'), Buffer.from([0, 255, 10])))
    rmSync(workspace, { recursive: true })
    const artifact = await readArtifact(realDisk, store, task, 'list')
    expect([...artifact.bytes]).toEqual([0, 255, 10])
    expect(artifact.digest).toBe(sha256Digest(Uint8Array.of(0, 255, 10)))
  })

  it('is by exact path, and only of what was kept', async () => {
    const { task } = await kept(() => {
      mkdirSync(at('d'))
      writeFileSync(at('d/f'), 'x')
      symlinkSync('/etc/passwd', at('link'))
    })
    for (const path of ['./d/f', 'd//f', 'd/../d/f', '/d/f', 'd', 'link', 'other', '']) {
      await expect(readArtifact(realDisk, store, task, path), path).rejects.toMatchObject({
        code: 'not_found',
      })
    }
    expect((await readArtifact(realDisk, store, task, 'd/f')).bytes).toEqual(new Uint8Array(Buffer.from('x')))
  })

  it('refuses an altered, shortened or missing blob, and the view names it', async () => {
    const { task, manifest } = await kept(() => writeFileSync(at('f'), 'content'))
    const blob = join(store, readdirSync(store).find((name) => name.endsWith('.blob')) ?? '')
    const faults = () => artifactFaults(realDisk, store, manifest)
    expect(await faults()).toEqual([])
    for (const other of ['Content', 'cont', 'content and more']) {
      writeFileSync(blob, other)
      await expect(readArtifact(realDisk, store, task, 'f')).rejects.toMatchObject({ code: 'corrupt_store' })
      expect(await faults()).toEqual(['f: altered'])
    }
    writeFileSync(blob, 'content')
    chmodSync(blob, 0o644)
    expect(await faults()).toEqual(['f: unsafe'])
    rmSync(blob)
    await expect(readArtifact(realDisk, store, task, 'f')).rejects.toMatchObject({ code: 'not_found' })
    expect(await faults()).toEqual(['f: missing'])
  })

  it('refuses a manifest that is not the one of the run', async () => {
    const { task } = await kept(() => writeFileSync(at('f'), 'x'))
    const { run } = task
    if (run?.result === null || run === undefined) throw new Error('no run')
    const spoilt = (result: object, admission: object = {}): Task =>
      ({
        run: { ...run, result: { ...run.result, ...result }, admission: { ...run.admission, ...admission } },
      }) as Task
    const corrupt = { code: 'corrupt_store' }
    const read = (other: Task) => readManifest(realDisk, store, other)
    await expect(read(spoilt({ artifact_file: 'manifest-x.json' }))).rejects.toMatchObject(corrupt)
    await expect(read(spoilt({ artifact_digest: null }))).rejects.toMatchObject(corrupt)
    await expect(read(spoilt({ candidate_snapshot: null }))).rejects.toMatchObject(corrupt)
    await expect(read(spoilt({}, { source_snapshot: '0'.repeat(64) }))).rejects.toMatchObject(corrupt)
    expect(await read(spoilt({ artifact_file: null }))).toBeNull()
    const manifest = join(store, run.result.artifact_file ?? '')
    writeFileSync(manifest, `${readFileSync(manifest, 'utf8')} `)
    await expect(read(task)).rejects.toMatchObject(corrupt)
    rmSync(manifest)
    await expect(read(task)).rejects.toMatchObject({ code: 'not_found' })
  })
})
