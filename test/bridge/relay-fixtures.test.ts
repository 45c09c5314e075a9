import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fixtureFile, fixtureNames, readFixture } from '../support/recording/files.ts'
import { fixtureText } from '../support/recording/fixture.ts'
import { playAgain } from '../support/recording/play.ts'
import { scenarios } from '../support/recording/scenarios/all.ts'
import { record } from '../support/recording/scene.ts'
import { withoutAuxiliaryRandomness } from '../support/recording/seeded-random.ts'
import { tempDir } from '../support/temp-dir.ts'

let restore = () => {}
let homes = 0
let base = ''
beforeAll(async () => {
  restore = withoutAuxiliaryRandomness()
  base = await tempDir()
})
afterAll(() => restore())

async function freshDir(): Promise<string> {
  homes += 1
  const path = join(base, String(homes))
  await mkdir(path, { mode: 0o700 })
  return path
}

describe('recorded exchanges', () => {
  it('lie in the folder as the scenarios name them, each once', () => {
    expect(fixtureNames()).toEqual(scenarios.map(({ name }) => name).sort())
  })

  for (const name of fixtureNames()) {
    const fixture = readFixture(name)
    it(`${name}: a fresh host answers as recorded`, async () => {
      const again = await playAgain(fixture, await freshDir())
      expect(again.steps).toEqual(fixture.steps)
      expect(again.replies).toEqual(fixture.replies)
    })
  }

  for (const scenario of scenarios) {
    it(`${scenario.name}: the file is what is recorded now (npm run fixtures)`, async () => {
      expect(fixtureText(await record(scenario, await freshDir()))).toBe(fixtureFile(scenario.name))
    })
  }
})
