import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wireCodes } from '../../src/protocol/refusal.ts'
import { accessRows, admissionRows, type RefusalRow } from './refusal-rows.ts'
import { type RefusalStage, refusalStage } from './refusal-stage.ts'
import { taskRows } from './refusal-task-rows.ts'

let on: RefusalStage
beforeAll(async () => {
  on = await refusalStage()
})
afterAll(() => on.end())

function each(rows: readonly RefusalRow[]): void {
  for (const { earned, by, ask } of rows) {
    it(`${by}: ${earned}`, async () => expect(await ask(on)).toBe(earned))
  }
}

describe('what a peer of other hands is told, over a real relay', () => {
  describe('because of who asks, and how', () => each(admissionRows))
  describe('about access', () => each(accessRows))
  describe('about tasks', () => each(taskRows))

  it('has a row for every code', () => {
    const told = [...admissionRows, ...accessRows, ...taskRows].map(({ earned }) => earned.split(' ')[0])
    expect(wireCodes.filter((code) => !told.includes(code))).toEqual([])
  })
})
