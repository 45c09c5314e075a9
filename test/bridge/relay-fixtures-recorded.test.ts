import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fixtureFile, fixtureNames } from '../support/recording/files.ts'
import { fixtureText } from '../support/recording/fixture.ts'
import { record } from '../support/recording/record.ts'
import { scenarios } from '../support/recording/scenarios/all.ts'
import { withoutAuxiliaryRandomness } from '../support/recording/seeded-random.ts'
import { memoryDir } from '../support/temp-dir.ts'

let restore = () => {}
beforeAll(() => {
  restore = withoutAuxiliaryRandomness()
})
afterAll(() => restore())

describe('the recorded exchanges are what is recorded now (else: npm run fixtures)', () => {
  it('and lie in their folder as the scenarios name them, each once', () => {
    expect(fixtureNames()).toEqual(scenarios.map(({ name }) => name).sort())
  })

  for (const scenario of scenarios) {
    it(scenario.name, async () => {
      expect(fixtureText(await record(scenario, await memoryDir()))).toBe(fixtureFile(scenario.name))
    })
  }

  it('a scenario that expects what the host does not answer is not recorded', async () => {
    const [wrong] = scenarios.filter(({ name }) => name === 'grant-forbidden')
    if (wrong === undefined) throw new Error('there is no such scenario')
    const expecting = record(
      {
        ...wrong,
        play: async (scene) => void (await scene.ask('phone', { kind: 'workspace.list' }, 'tasks')),
      },
      await memoryDir(),
    )
    await expect(expecting).rejects.toThrow('tasks was due, workspaces came')
  })
})
