import type { GrantTerms } from '../../src/host/grant-draft.ts'
import { executeGrant, type OwnerDeps } from '../../src/host/owner/execute.ts'
import { boundedCommand } from '../../src/host/supervise/bounded-command.ts'
import { readTrace } from '../../src/host/trace/reader.ts'
import type { TraceStep } from '../../src/host/trace/records.ts'
import { traceBytesMax } from '../../src/limits.ts'
import { systemClock } from '../../src/seams/clock.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { realDisk } from '../../src/store/disk.ts'
import type { Task } from '../../src/store/tasks/task.ts'
import { type GitWorkspace, gitWorkspace } from './git-workspace.ts'
import { grantBytes, type HostStage, hostStage, shellTerms } from './host-stage.ts'

/** A home with one submitted task in a real worktree, and an owner that can be run in this process. */
export interface OwnerStage extends HostStage {
  readonly workspace: GitWorkspace
  /** Runs the task's current turn to its end. */
  run(script: string, terms?: Partial<GrantTerms>, deps?: Partial<OwnerDeps>): Promise<Task>
  deps(over?: Partial<OwnerDeps>): OwnerDeps
  /** The steps of a turn's trace. */
  steps(turn?: number): Promise<readonly TraceStep[]>
  /** What a turn's trace keeps of standard output. */
  output(turn?: number): Promise<Buffer>
}

export async function ownerStage(prompt = 'Sort the entries.'): Promise<OwnerStage> {
  const stage = await hostStage()
  const workspace = await gitWorkspace()
  await stage.submit('task-1', workspace.path, { prompt })
  const deps = (over: Partial<OwnerDeps> = {}): OwnerDeps => ({
    disk: realDisk,
    clock: systemClock,
    engine: boundedCommand(systemClock),
    storeDir: stage.storeDir,
    home: stage.home,
    version: '0.1.0',
    measureDisk: async () => null,
    ...over,
  })
  const steps = async (turn = 1): Promise<readonly TraceStep[]> => {
    const bytes = await realDisk.read(`${stage.storeDir}/task-1.${turn}.atif.jsonl`, traceBytesMax)
    return (bytes === null ? null : readTrace(bytes))?.steps ?? []
  }
  return {
    ...stage,
    workspace,
    deps,
    steps,
    async run(script, terms = {}, over = {}) {
      const task = await stage.tasks.show('task-1')
      return executeGrant(deps(over), grantBytes(task, shellTerms(script, terms)))
    },
    async output(turn) {
      const pieces = (await steps(turn)).map(({ extensions }) => extensions?.['raw_bytes'])
      return Buffer.from(pieces.filter((piece) => piece !== undefined).flat() as number[])
    },
  }
}

/** A disk that runs `before` ahead of the first write of a path that ends in `suffix`. */
export function interruptedDisk(suffix: string, before: () => Promise<void>): Disk {
  let waiting = true
  const at = async (path: string) => {
    if (!waiting || !path.endsWith(suffix)) return
    waiting = false
    await before()
  }
  return {
    ...realDisk,
    async openAppend(path, options) {
      await at(path)
      return realDisk.openAppend(path, options)
    },
    async replace(path, bytes, options) {
      await at(path)
      return realDisk.replace(path, bytes, options)
    },
  }
}
