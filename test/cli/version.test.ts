import { readFile } from 'node:fs/promises'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { productVersion } from '../../src/cli/version.ts'

const root = new URL('../..', import.meta.url).pathname
const program = `${root}dist/cli/main.js`

describe('version', () => {
  it('is the one of the package', async () => {
    const manifest = JSON.parse(await readFile(`${root}package.json`, 'utf8')) as { version: string }
    expect(productVersion).toBe(manifest.version)
  })

  it.each([['version'], ['--version']])('%s prints it with Node, platform and protocol', async (word) => {
    const { stdout } = await execa('node', [program, word])
    expect(stdout).toBe(
      `drawbridge ${productVersion} (node ${process.versions.node}, ${process.platform}-${process.arch}, protocol 1)`,
    )
  })

  it('is answered without loading anything of the rest', async () => {
    const text = await readFile(program, 'utf8')
    const imported = [...text.matchAll(/^import (?:.*from )?["']([^"']+)["']/gm)].map((found) => found[1])
    expect(
      imported.filter((name) => !(name ?? '').startsWith('node:') && !(name ?? '').includes('chunk-')),
    ).toEqual([])
    expect(text.length).toBeLessThan(8_000)
  })
})
