import { execFileSync } from 'node:child_process'
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { retainArtifacts } from '../../../src/host/artifacts/retain.ts'
import { takeSnapshot } from '../../../src/host/snapshot/take.ts'
import { sha256Digest } from '../../../src/protocol/digest.ts'
import { realDisk } from '../../../src/store/disk.ts'
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

describe('a manifest', () => {
  it('tells each kind of change, and keeps the content of files', async () => {
    for (const name of ['gone', 'edited', 'old-name', 'becomes-link']) writeFileSync(at(name), `${name}\n`)
    const { manifest, task, before, after } = await kept(() => {
      writeFileSync(at('edited'), 'new\n')
      renameSync(at('old-name'), at('new-name'))
      writeFileSync(at('a-file'), 'x')
      mkdirSync(at('b-dir'))
      symlinkSync('a-file', at('c-link'))
      execFileSync('/usr/bin/mkfifo', [at('d-fifo')])
      rmSync(at('becomes-link'))
      symlinkSync('/nowhere', at('becomes-link'))
      // Last: a file system may give its inode to the next new file, which would then be a rename.
      rmSync(at('gone'))
    })
    expect(manifest.changes).toEqual([
      { change: 'created', path: 'a-file' },
      { change: 'created', path: 'b-dir' },
      { change: 'retyped', path: 'becomes-link' },
      { change: 'created', path: 'c-link' },
      { change: 'created', path: 'd-fifo' },
      { change: 'modified', path: 'edited' },
      { change: 'removed', path: 'gone' },
      { change: 'renamed', from: 'old-name', to: 'new-name', altered: false },
    ])
    const none = { digest: null, bytes: null, link_target: null }
    expect(manifest.entries).toEqual([
      { ...none, path: 'a-file', state: 'retained', digest: sha256Digest('x'), bytes: 1 },
      { ...none, path: 'b-dir', state: 'directory' },
      { ...none, path: 'becomes-link', state: 'symlink', link_target: '/nowhere' },
      { ...none, path: 'c-link', state: 'symlink', link_target: 'a-file' },
      { ...none, path: 'd-fifo', state: 'unavailable_or_over_limit' },
      { ...none, path: 'edited', state: 'retained', digest: sha256Digest('new\n'), bytes: 4 },
      { ...none, path: 'gone', state: 'removed' },
      { ...none, path: 'new-name', state: 'retained', digest: sha256Digest('old-name\n'), bytes: 9 },
    ])
    expect(manifest).toMatchObject({
      schema: 'openagents.coder.task-artifacts.v1',
      source_snapshot: before.digest,
      candidate_snapshot: after.digest,
      complete: false,
      omitted_changes: 0,
    })
    const { artifact_file: file, artifact_digest: digest } = task.run?.result ?? {}
    expect(digest).toBe(sha256Digest(readFileSync(join(store, file ?? ''))))
    expect(file).toBe(`manifest-${digest?.slice(7)}.json`)
    expect(Object.keys(manifest).join()).toBe(
      'schema,source_snapshot,candidate_snapshot,complete,omitted_changes,changes,entries',
    )
  })

  it('of a run that changed nothing is complete and empty', async () => {
    const { manifest } = await kept(() => {})
    expect(manifest).toMatchObject({ complete: true, changes: [], entries: [] })
  })

  it('is one file for identical candidates, and private', async () => {
    const change = () => writeFileSync(at('list'), 'x')
    const { before } = await kept(change)
    const names = readdirSync(store).sort()
    expect(names).toHaveLength(2)
    for (const name of names) expect(statSync(join(store, name)).mode & 0o777).toBe(0o600)
    const after = await takeSnapshot(workspace)
    await retainArtifacts(realDisk, store, before, after)
    expect(readdirSync(store).sort()).toEqual(names)
  })

  it('refuses corrupt_store when a blob of that name holds other bytes', async () => {
    const blob = join(store, `artifact-${sha256Digest('x').slice(7)}.blob`)
    writeFileSync(blob, 'y', { mode: 0o600 })
    await expect(kept(() => writeFileSync(at('f'), 'x'))).rejects.toMatchObject({ code: 'corrupt_store' })
    writeFileSync(blob, 'longer', { mode: 0o600 })
    await expect(kept(() => writeFileSync(at('g'), 'x'))).rejects.toMatchObject({ code: 'corrupt_store' })
  })

  it('keeps files below names of any language', async () => {
    const { manifest } = await kept(() => {
      mkdirSync(at('é'))
      writeFileSync(at('é/日本'), 'x')
    })
    expect(manifest.complete).toBe(true)
    expect(manifest.entries.map((entry) => [entry.path, entry.state])).toEqual([
      ['é', 'directory'],
      ['é/日本', 'retained'],
    ])
  })

  it('of an unreadable candidate names nothing and is not complete', async () => {
    const { manifest } = await kept(() => rmSync(workspace, { recursive: true }))
    expect(manifest).toMatchObject({ candidate_snapshot: null, complete: false, changes: [], entries: [] })
  })
})

describe('what is not kept', () => {
  const stateAfter = async (
    change: () => void,
    meanwhile?: () => void,
  ): Promise<[string | undefined, boolean]> => {
    const { manifest } = await kept(change, meanwhile)
    return [manifest.entries[0]?.state, manifest.complete]
  }

  it.each([
    [
      'a file over 1 MiB',
      () => writeFileSync(at('f'), Buffer.alloc(1_048_577)),
      undefined,
      'unavailable_or_over_limit',
    ],
    [
      'a file that changed since',
      () => writeFileSync(at('f'), 'x'),
      () => writeFileSync(at('f'), 'y'),
      'unavailable',
    ],
    [
      'a file that grew since',
      () => writeFileSync(at('f'), 'x'),
      () => writeFileSync(at('f'), 'xx'),
      'unavailable',
    ],
    [
      'a file that is gone since',
      () => writeFileSync(at('f'), 'x'),
      () => rmSync(at('f')),
      'unavailable_or_over_limit',
    ],
    [
      'a file that became a link to the host',
      () => writeFileSync(at('f'), 'x'),
      () => {
        rmSync(at('f'))
        symlinkSync('/etc/passwd', at('f'))
      },
      'unavailable',
    ],
    [
      'a link whose target changed since',
      () => symlinkSync('a', at('f')),
      () => {
        rmSync(at('f'))
        symlinkSync('b', at('f'))
      },
      'unavailable',
    ],
  ] as const)('%s', async (_name, change, meanwhile, state) => {
    expect(await stateAfter(change, meanwhile)).toEqual([state, false])
  })

  it('a file with a second name', async () => {
    writeFileSync(at('z-old'), 'x')
    expect(await stateAfter(() => linkSync(at('z-old'), at('f')))).toEqual(['unavailable', false])
  })

  it('what is past 8 MiB together', async () => {
    const { manifest } = await kept(() => {
      for (let index = 0; index < 9; index += 1)
        writeFileSync(at(`f${index}`), Buffer.alloc(1_048_576, index))
    })
    expect(manifest.entries.map((entry) => entry.state)).toEqual([
      ...Array(8).fill('retained'),
      'unavailable_or_over_limit',
    ])
    expect(manifest.complete).toBe(false)
  })

  it('a name that is not UTF-8, which is counted', async () => {
    const { manifest } = await kept(() => {
      writeFileSync(Buffer.concat([Buffer.from(`${workspace}/`), Buffer.from([0xff])]), 'x')
      writeFileSync(at('plain'), 'x')
    })
    expect(manifest).toMatchObject({ omitted_changes: 1, complete: false, changes: [{ path: 'plain' }] })
  })

  it('changes past 4,096, which are counted', async () => {
    const { manifest } = await kept(() => {
      for (let index = 0; index < 4_100; index += 1) mkdirSync(at(`d${index}`))
    })
    expect(manifest).toMatchObject({ omitted_changes: 4, complete: false })
    expect(manifest.changes).toHaveLength(4_096)
  })

  it('makes nothing of a tree that changed while it was kept', async () => {
    const { manifest } = await kept(
      () => writeFileSync(at('f'), 'x'),
      () => writeFileSync(at('later'), ''),
    )
    expect(manifest).toMatchObject({ complete: false, entries: [{ state: 'retained' }] })
  })
})
