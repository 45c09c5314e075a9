import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fixtureFolder, pageFile, readFixture } from './files.ts'
import { fixtureText } from './fixture.ts'
import { recordedParts, withRecordedParts } from './page.ts'
import { record } from './record.ts'
import { scenarios } from './scenarios/all.ts'
import { withoutAuxiliaryRandomness } from './seeded-random.ts'

// Records every exchange anew, or those that are named (the folder then holds no unknown ones), and what the page shows.
const wanted = process.argv.slice(2)

withoutAuxiliaryRandomness()
await mkdir(fixtureFolder, { recursive: true })
for (const scenario of scenarios) {
  if (wanted.length > 0 && !wanted.includes(scenario.name)) continue
  const base = await mkdtemp(join(await realpath(tmpdir()), 'drawbridge-fixture-'))
  try {
    await writeFile(join(fixtureFolder, `${scenario.name}.json`), fixtureText(await record(scenario, base)))
  } finally {
    await rm(base, { recursive: true })
  }
}
for (const name of await readdir(fixtureFolder)) {
  const known = scenarios.some((scenario) => name === `${scenario.name}.json`)
  if (!known && name.endsWith('.json')) await rm(join(fixtureFolder, name))
}
const parts = recordedParts(scenarios.map(({ name }) => readFixture(name)))
await writeFile(pageFile, withRecordedParts(await readFile(pageFile, 'utf8'), parts))
