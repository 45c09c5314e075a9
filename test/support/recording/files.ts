import { readdirSync, readFileSync } from 'node:fs'
import type { Fixture } from './fixture.ts'

/** Where the recorded exchanges lie. */
export const fixtureFolder = new URL('../../../relay-fixtures/', import.meta.url).pathname

/** The page that shows parts of them. */
export const pageFile = new URL('../../../docs/protocol.md', import.meta.url).pathname

/** The names of the files in the folder, without their ending. */
export function fixtureNames(): string[] {
  return readdirSync(fixtureFolder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .sort()
}

/** The bytes of a fixture as text. */
export function fixtureFile(name: string): string {
  return readFileSync(`${fixtureFolder}${name}.json`, 'utf8')
}

export function readFixture(name: string): Fixture {
  return JSON.parse(fixtureFile(name))
}

export function everyFixture(): Fixture[] {
  return fixtureNames().map(readFixture)
}
