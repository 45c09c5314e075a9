import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { isDiskLow, measureDisk } from '../../../src/host/probe/disk-space.ts'
import { canonicalPath, containsPath, pathsOverlap } from '../../../src/host/probe/paths.ts'
import { pinProgram } from '../../../src/host/probe/program.ts'
import { tempDir } from '../../support/temp-dir.ts'

describe('paths', () => {
  it.each([
    ['/a', '/a', true],
    ['/a', '/a/b', true],
    ['/a', '/ab', false],
    ['/a/b', '/a', false],
    ['/', '/a', true],
  ])('%s contains %s: %s', (outer, inner, expected) => {
    expect(containsPath(outer, inner)).toBe(expected)
    if (expected) expect([pathsOverlap(outer, inner), pathsOverlap(inner, outer)]).toEqual([true, true])
  })

  it('are made canonical, or refused when nothing is there', async () => {
    const dir = await tempDir()
    await symlink(dir, `${dir}/link`)
    expect(await canonicalPath(`${dir}/link`)).toBe(dir)
    await expect(canonicalPath(`${dir}/none`)).rejects.toMatchObject({ code: 'io' })
  })
})

describe('pinning a program', () => {
  it('hashes its bytes, however many', async () => {
    const path = join(await tempDir(), 'program')
    const bytes = Buffer.alloc(3_000_000, 'x')
    await writeFile(path, bytes)
    expect(await pinProgram(path)).toBe(`sha256:${createHash('sha256').update(bytes).digest('hex')}`)
  })

  it('refuses what is no regular file by its own name', async () => {
    const dir = await tempDir()
    await mkdir(join(dir, 'directory'))
    await writeFile(join(dir, 'file'), 'x')
    await symlink(join(dir, 'file'), join(dir, 'link'))
    await execa('mkfifo', [join(dir, 'pipe')])
    for (const name of ['directory', 'link', 'pipe', 'none', 'directory/../file']) {
      await expect(pinProgram(`${dir}/${name}`), name).rejects.toMatchObject({ code: 'unsafe_path' })
    }
    await expect(pinProgram(join(dir, 'link'))).rejects.toMatchObject({
      hint: expect.stringContaining(join(dir, 'file')),
    })
  })
})

describe('the disk', () => {
  it.each([
    [1_073_741_823, 1_000_000_000, true],
    [1_073_741_824, 1_000_000_000, false],
    [4_999_999_999, 100_000_000_000, true],
    [5_000_000_000, 100_000_000_000, false],
  ])('%i free of %i is low: %s', (free, total, expected) => expect(isDiskLow({ free, total })).toBe(expected))

  it('is measured where there is one', async () => {
    const space = await measureDisk(await tempDir())
    expect(space?.total).toBeGreaterThanOrEqual(space?.free ?? 0)
    expect(await measureDisk('/not/there')).toBeNull()
  })
})

describe('inherited descriptors', () => {
  it('above 2 that a child would inherit are closed, and no others', async () => {
    const dir = await tempDir()
    const module = new URL('../../../src/host/probe/descriptors.ts', import.meta.url).pathname
    const script = join(dir, 'child.mjs')
    await writeFile(
      script,
      `import { fstatSync, openSync } from 'node:fs'
       import { register } from '${import.meta.resolve('tsx/esm/api')}'
       register()
       const { closeInheritedDescriptors } = await import('${module}')
       const own = openSync('/dev/null')
       const closed = closeInheritedDescriptors()
       fstatSync(own)
       console.log(JSON.stringify(closed))`,
    )
    const held = openSync(dir, 'r')
    // Beyond the numbers that Node itself marks close-on-exec as it starts.
    const stdio: ('ignore' | 'pipe' | number)[] = Array.from({ length: 40 }, () => 'ignore' as const)
    const child = spawn(process.execPath, [script], {
      stdio: ['ignore', 'pipe', 'inherit', ...stdio.slice(3, 39), held],
    })
    closeSync(held)
    let text = ''
    child.stdout?.on('data', (piece) => {
      text += piece
    })
    await once(child, 'close')
    expect(JSON.parse(text)).toContain(39)
  })
})
