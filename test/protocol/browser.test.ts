import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'

const folder = fileURLToPath(new URL('../../src/protocol', import.meta.url))
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
)

/** Bundles a module for a browser, in which a `node:` import is an error. */
async function bundle(contents: string): Promise<string> {
  const result = await build({
    stdin: { contents, resolveDir: folder, loader: 'ts' },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    logLevel: 'silent',
  })
  return result.outputFiles[0]?.text ?? ''
}

describe('the protocol in a browser', () => {
  it('is bundled whole without anything of Node', async () => {
    expect(files.length).toBeGreaterThan(30)
    const text = await bundle(files.map((name, index) => `export * as m${index} from './${name}'`).join('\n'))
    expect(text).toContain('openagents.host-request.v1')
    expect(text).not.toMatch(/\bBuffer\.|\bprocess\.(?:env|hrtime|argv)/)
  })

  it('would not be, with one import of Node', async () => {
    await expect(bundle("export { readFileSync } from 'node:fs'")).rejects.toThrow('node:fs')
  })
})
