import { readdir, readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  absences,
  breaking,
  linesMax,
  notBounds,
  type SourceFile,
  tableOfBounds,
  tooLong,
  unfinished,
} from './support/absences.ts'

const root = new URL('..', import.meta.url).pathname
let source: SourceFile[] = []
let everything: SourceFile[] = []

beforeAll(async () => {
  source = await filesUnder('src')
  everything = [...source, ...(await filesUnder('test')), ...(await filesUnder('bench'))]
})

describe('what the code must not contain', () => {
  it('looks at every source file', () => {
    expect(source.length).toBeGreaterThan(50)
  })

  for (const absence of absences) {
    it(absence.name, () => {
      expect(breaking(absence, source)).toEqual([])
    })

    it(`is found when planted: ${absence.planted}`, () => {
      const planted = { path: 'src/planted.ts', text: `export const x = 1\n${absence.planted}\n` }
      expect(breaking(absence, [...source, planted])).toContain(planted.path)
      const commented = { path: planted.path, text: `// ${absence.planted}\n/* ${absence.planted} */\n` }
      expect(breaking(absence, [commented])).toEqual([])
    })
  }
})

describe('how the code is laid out', () => {
  it(`no file is longer than ${linesMax} lines`, () => {
    expect(tooLong(everything)).toEqual([])
  })

  it('a file of one line more is found', () => {
    expect(tooLong([{ path: 'a.ts', text: 'x\n'.repeat(linesMax) }])).toEqual([])
    expect(tooLong([{ path: 'a.ts', text: 'x\n'.repeat(linesMax + 1) }])).toEqual(['a.ts'])
  })

  it('the one longer file holds bounds and nothing else', () => {
    const table = source.find((file) => file.path === tableOfBounds)
    expect(notBounds(table?.text ?? 'missing')).toEqual([])
    expect(notBounds('export const x = 1_000\nexport const y = x + 1\n')).toEqual(['export const y = x + 1'])
  })

  it('no work is left marked as unfinished', () => {
    const elsewhere = everything.filter((file) => !file.path.endsWith('support/absences.ts'))
    expect(unfinished(elsewhere)).toEqual([])
    expect(unfinished([{ path: 'a.ts', text: '// TO' + 'DO: later\n' }])).toEqual(['a.ts'])
  })

  it('every test file mirrors a folder of the source, or is one of the whole product', () => {
    const folders = new Set(source.map((file) => file.path.split('/')[1]))
    const allowed = new Set([
      ...folders,
      'system',
      'faults',
      'fuzz',
      'fixtures',
      'support',
      'interop',
      'world',
    ])
    const strange = everything
      .filter((file) => file.path.startsWith('test/') && file.path.split('/').length > 2)
      .filter((file) => !allowed.has(file.path.split('/')[1] ?? ''))
    expect(strange.map((file) => file.path)).toEqual([])
  })

  it('the tests of the whole product import nothing of it', () => {
    const peeking = everything
      .filter((file) => file.path.startsWith('test/system/'))
      .filter((file) => /from '[./]+src\//.test(file.text))
    expect(peeking.map((file) => file.path)).toEqual([])
  })
})

async function filesUnder(folder: string): Promise<SourceFile[]> {
  const names = await readdir(`${root}${folder}`, { recursive: true }).catch(() => [])
  const paths = names.filter((name) => name.endsWith('.ts')).map((name) => `${folder}/${name}`)
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(`${root}${path}`, 'utf8') })))
}
