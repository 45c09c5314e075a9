import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareBoundary } from '../../src/host/boundary/prepare.ts'
import { boundedCommand } from '../../src/host/supervise/bounded-command.ts'
import type { EngineEnd, EngineRun, EngineStart, OutputDelivery } from '../../src/host/supervise/engine.ts'
import { systemClock } from '../../src/seams/clock.ts'

/** A place on disk for one test: a workspace, a turn folder, a home that no command may see. */
export interface Place {
  readonly root: string
  readonly workspace: string
  readonly turnFolder: string
  readonly home: string
  remove(): void
}

export function makePlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'place-')))
  const [workspace, turnFolder, home] = ['workspace', 'turn', 'home'].map((name) => join(root, name))
  if (workspace === undefined || turnFolder === undefined || home === undefined) throw new Error('no paths')
  for (const path of [workspace, turnFolder, home]) mkdirSync(path, { mode: 0o700 })
  return { root, workspace, turnFolder, home, remove: () => rmSync(root, { recursive: true, force: true }) }
}

/** Starts a dash script inside a place's boundary. */
export async function startScript(
  place: Place,
  script: string,
  options: Partial<EngineStart> & { write?: boolean; offline?: boolean } = {},
): Promise<EngineRun> {
  const { write = false, offline = true, ...spec } = options
  const program = spec.program ?? realpathSync('/bin/dash')
  const boundary = await prepareBoundary({
    ...(write ? { checkout: place.workspace } : {}),
    readable: [place.workspace, program],
    sealed: [place.home],
    hidden: [place.home],
    offline,
  })
  const run = await boundedCommand(systemClock).start({
    boundary,
    program,
    arguments: ['-c', script],
    workspace: place.workspace,
    turnFolder: place.turnFolder,
    wallSeconds: 20,
    streamBytes: 65_536,
    memoryBytes: 268_435_456,
    ...spec,
  })
  await run.begin()
  return run
}

/** A script's end with its whole standard output, taken as it comes. */
export async function runScript(
  place: Place,
  script: string,
  options: Parameters<typeof startScript>[2] = {},
): Promise<EngineEnd & { output: string; deliveries: OutputDelivery[] }> {
  const run = await startScript(place, script, options)
  const deliveries: OutputDelivery[] = []
  run.onOutput(() => {
    const taken = run.take()
    if (taken !== null) deliveries.push(taken)
  })
  const end = await run.ended
  deliveries.push(...end.last)
  return { ...end, deliveries, output: Buffer.concat(deliveries.map((taken) => taken.bytes)).toString() }
}
