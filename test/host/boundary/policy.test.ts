import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findBackend } from '../../../src/host/boundary/backend.ts'
import { type BoundaryPolicy, resolvePolicy } from '../../../src/host/boundary/policy.ts'
import { prepareBoundary } from '../../../src/host/boundary/prepare.ts'
import { boundaryRefusal } from '../../../src/host/boundary/refusal.ts'
import { makePlace, type Place } from '../../support/sandboxed.ts'

let place: Place
let workspace: string

beforeEach(() => {
  place = makePlace()
  workspace = place.workspace
})

afterEach(() => {
  place.remove()
})

const readOnly = (policy: Partial<BoundaryPolicy> = {}): BoundaryPolicy => ({
  readable: [workspace],
  offline: true,
  ...policy,
})

const refusing = (problem: string) => ({ code: 'io', field: `boundary.${problem}` })

describe('every path', () => {
  const fields = ['writable', 'protected', 'sealed', 'hidden', 'readable'] as const

  it.each(fields)('of %s must be absolute', async (field) => {
    await expect(resolvePolicy(readOnly({ [field]: ['relative/path'] }))).rejects.toMatchObject(
      refusing('relative'),
    )
  })

  it.each(fields)('of %s must exist', async (field) => {
    const missing = join(place.root, 'missing')
    await expect(resolvePolicy(readOnly({ [field]: [missing] }))).rejects.toMatchObject(refusing('resolve'))
  })

  it.each(fields)('of %s must hold no control character', async (field) => {
    const path = `${place.root}/with\nnewline`
    mkdirSync(path)
    await expect(resolvePolicy(readOnly({ [field]: [path] }))).rejects.toMatchObject(refusing('unsafe'))
  })

  it('of the checkout must be all of that', async () => {
    await expect(resolvePolicy(readOnly({ checkout: 'here' }))).rejects.toMatchObject(refusing('relative'))
    await expect(resolvePolicy(readOnly({ checkout: '/missing' }))).rejects.toMatchObject(refusing('resolve'))
  })

  it('must exist in every part, also before a `..`', async () => {
    const path = `${place.root}/missing/../workspace`
    await expect(resolvePolicy(readOnly({ readable: [path] }))).rejects.toMatchObject(refusing('resolve'))
  })

  it('must be UTF-8 after it is resolved', async () => {
    const target = Buffer.concat([Buffer.from(`${place.root}/`), Buffer.from([0xff])])
    mkdirSync(target)
    symlinkSync(target, join(place.root, 'plain'))
    const policy = readOnly({ readable: [join(place.root, 'plain')] })
    await expect(resolvePolicy(policy)).rejects.toMatchObject(refusing('unsafe'))
  })

  it('is made canonical', async () => {
    symlinkSync(workspace, join(place.root, 'link'))
    const { readable } = await resolvePolicy(readOnly({ readable: [join(place.root, 'link')] }))
    expect(readable).toEqual([workspace])
  })
})

describe('overlaps', () => {
  const inside = (name: string): string => {
    const path = join(workspace, name)
    mkdirSync(path, { recursive: true })
    return path
  }

  it.each(['protected', 'sealed'] as const)(
    'of a writable path with a %s one refuse: same, inside, around',
    async (kind) => {
      const inner = inside('inner')
      for (const [writable, other] of [
        [workspace, workspace],
        [inner, workspace],
        [workspace, inner],
      ] as const) {
        const policy = readOnly({ writable: [writable], [kind]: [other] })
        await expect(resolvePolicy(policy)).rejects.toMatchObject(refusing('overlap'))
      }
    },
  )

  it('of a checkout with a sealed path refuse: same, inside, around', async () => {
    const inner = inside('inner')
    for (const [checkout, sealed] of [
      [workspace, workspace],
      [inner, workspace],
      [workspace, inner],
    ] as const) {
      await expect(resolvePolicy(readOnly({ checkout, sealed: [sealed] }))).rejects.toMatchObject(
        refusing('overlap'),
      )
    }
  })

  it('of a checkout with a protected path refuse, unless the checkout lies inside it', async () => {
    const inner = inside('inner')
    await expect(
      resolvePolicy(readOnly({ checkout: workspace, protected: [workspace] })),
    ).rejects.toMatchObject(refusing('overlap'))
    await expect(resolvePolicy(readOnly({ checkout: workspace, protected: [inner] }))).rejects.toMatchObject(
      refusing('overlap'),
    )
    expect((await resolvePolicy(readOnly({ checkout: inner, protected: [workspace] }))).checkout).toBe(inner)
  })

  it('are seen through links', async () => {
    symlinkSync(workspace, join(place.root, 'link'))
    const policy = readOnly({ writable: [join(place.root, 'link')], sealed: [workspace] })
    await expect(resolvePolicy(policy)).rejects.toMatchObject(refusing('overlap'))
  })

  it('are of whole components', async () => {
    mkdirSync(`${workspace}-other`)
    const policy = readOnly({ writable: [workspace], sealed: [`${workspace}-other`] })
    expect((await resolvePolicy(policy)).writable).toEqual([workspace])
  })

  it('of hiding with what the command must see refuse', async () => {
    const policy = readOnly({ readable: [place.root, workspace], hidden: [workspace] })
    await expect(resolvePolicy(policy)).rejects.toMatchObject(refusing('overlap'))
  })
})

describe('the backend', () => {
  const places = { bubblewrap: ['/usr/bin/bwrap'], prlimit: ['/usr/bin/prlimit'] }

  it('is asked for only after the paths are right', async () => {
    const missing = async () => {
      throw boundaryRefusal('unavailable', 'none')
    }
    await expect(prepareBoundary(readOnly({ readable: ['x'] }), missing)).rejects.toMatchObject(
      refusing('relative'),
    )
    await expect(prepareBoundary(readOnly(), missing)).rejects.toMatchObject(refusing('unavailable'))
  })

  it('is unsupported on other systems, before anything is looked for', async () => {
    const nowhere = { bubblewrap: ['/nonexistent'], prlimit: [] }
    await expect(findBackend(nowhere, 'darwin')).rejects.toMatchObject(refusing('unsupported'))
  })

  it('is unavailable when a program is missing, and says which and how to get it', async () => {
    await expect(
      findBackend({ ...places, bubblewrap: ['/nonexistent/bwrap'] }, 'linux'),
    ).rejects.toMatchObject({
      ...refusing('unavailable'),
      message: 'bubblewrap is missing: it is looked for at /nonexistent/bwrap',
      hint: 'sudo apt-get install bubblewrap',
    })
    await expect(findBackend({ ...places, prlimit: [] }, 'linux')).rejects.toMatchObject({
      ...refusing('unavailable'),
      hint: 'sudo apt-get install util-linux',
    })
  })

  it('is inoperable when it does not run a trivial command', async () => {
    const backend = findBackend({ ...places, bubblewrap: ['/usr/bin/false'] }, 'linux')
    await expect(backend).rejects.toMatchObject(refusing('inoperable'))
  })

  it('is inoperable when it cannot do what runs need, and says what it said', async () => {
    const old = join(place.root, 'bwrap')
    const script =
      '#!/bin/sh\ncase "$*" in *disable-userns*) echo "bwrap: Unknown option --disable-userns" >&2; exit 1;; esac\n'
    writeFileSync(old, script, { mode: 0o755 })
    await expect(findBackend({ ...places, bubblewrap: [old] }, 'linux')).rejects.toMatchObject({
      ...refusing('inoperable'),
      message: 'bubblewrap with every feature does not work here: bwrap: Unknown option --disable-userns',
    })
  })

  it('is the first of its places', async () => {
    const found = await findBackend(
      { ...places, bubblewrap: ['/nonexistent/bwrap', '/usr/bin/bwrap'] },
      'linux',
    )
    expect(found).toEqual({ program: '/usr/bin/bwrap', prlimit: '/usr/bin/prlimit' })
  })
})
