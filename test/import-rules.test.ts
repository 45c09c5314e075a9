import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { afterEach, describe, expect, it } from 'vitest'

const root = new URL('..', import.meta.url).pathname
let made: string[] = []

afterEach(async () => {
  await Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true })))
  made = []
})

/** A rule's name, and files that break exactly that one. */
const planted: readonly [rule: string, files: Record<string, string>][] = [
  ['layer-protocol', { 'protocol/a.ts': "import '../store/b.ts'", 'store/b.ts': 'export {}' }],
  ['layer-store', { 'store/a.ts': "import '../host/b.ts'", 'host/b.ts': 'export {}' }],
  ['layer-host', { 'host/a.ts': "import '../bridge/b.ts'", 'bridge/b.ts': 'export {}' }],
  ['layer-device', { 'device/a.ts': "import '../store/b.ts'", 'store/b.ts': 'export {}' }],
  ['layer-relay', { 'relay/a.ts': "import '../bridge/b.ts'", 'bridge/b.ts': 'export {}' }],
  ['layer-bridge', { 'bridge/a.ts': "import '../device/b.ts'", 'device/b.ts': 'export {}' }],
  ['layer-commands', { 'commands/a.ts': "import '../host/b.ts'", 'host/b.ts': 'export {}' }],
  [
    'commands-takes-only-types-of-host',
    { 'commands/a.ts': "import '../host/steering.ts'", 'host/steering.ts': 'export {}' },
  ],
  ['nothing-imports-cli', { 'bridge/a.ts': "import '../cli/b.ts'", 'cli/b.ts': 'export {}' }],
  ['no-cycles', { 'store/a.ts': "import './b.ts'", 'store/b.ts': "import './a.ts'" }],
  ['no-orphans', { 'store/a.ts': 'export const alone = 1' }],
  ['processes-only-in-supervise-and-helper', { 'store/a.ts': "import 'node:child_process'" }],
  ['sockets-only-in-their-seam', { 'bridge/a.ts': "import 'ws'" }],
]

describe('the import rules', () => {
  it.each(planted)('%s is found when it is broken', async (rule, files) => {
    expect(await broken(files)).toContain(rule)
  })

  it('a tree that keeps them is let through', async () => {
    expect(await broken({ 'store/a.ts': "import '../protocol/b.ts'", 'protocol/b.ts': 'export {}' })).toEqual(
      [],
    )
  })
})

/** The names of the rules that a planted source tree breaks. */
async function broken(files: Record<string, string>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'drawbridge-imports-'))
  made.push(folder)
  await symlink(`${root}node_modules`, join(folder, 'node_modules'))
  await writeFile(join(folder, 'tsconfig.json'), '{"compilerOptions":{"module":"nodenext"}}')
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, 'src', name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, `${text}\n`)
  }
  const options = ['--config', `${root}.dependency-cruiser.cjs`, '--output-type', 'json', 'src']
  const { stdout } = await execa(`${root}node_modules/.bin/depcruise`, options, {
    cwd: folder,
    reject: false,
  })
  const found = JSON.parse(stdout) as { summary: { violations: { rule: { name: string } }[] } }
  return [...new Set(found.summary.violations.map((violation) => violation.rule.name))]
}
