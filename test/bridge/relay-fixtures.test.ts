import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyFixture } from '../support/recording/files.ts'
import { playAgain } from '../support/recording/play.ts'
import { withoutAuxiliaryRandomness } from '../support/recording/seeded-random.ts'
import { memoryDir } from '../support/temp-dir.ts'

let restore = () => {}
beforeAll(() => {
  restore = withoutAuxiliaryRandomness()
})
afterAll(() => restore())

describe('a fresh host answers as recorded', () => {
  for (const fixture of everyFixture()) {
    it(`${fixture.name}: ${fixture.about}`, async () => {
      const again = await playAgain(fixture, await memoryDir())
      expect(again.steps).toEqual(fixture.steps)
      expect(again.replies).toEqual(fixture.replies)
    })
  }

  it('and not otherwise: an exchange that was changed does not play', async () => {
    const [fixture] = everyFixture().filter(({ name }) => name === 'grant-stale')
    if (fixture === undefined) throw new Error('not recorded')
    const epochs = {}
    const changed = await playAgain({ ...fixture, start: { ...fixture.start, epochs } }, await memoryDir())
    expect(changed.steps).not.toEqual(fixture.steps)
    expect(changed.replies).not.toEqual(fixture.replies)
  })
})
