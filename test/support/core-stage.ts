import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type PolicyTerms, switchOn } from '../../src/host/autostart/change-policy.ts'
import { openAutostartJournal } from '../../src/host/autostart/journal.ts'
import type { AutostartPolicy } from '../../src/host/autostart/policy.ts'
import { type HostCore, type HostCoreDeps, type HostFacts, openHostCore } from '../../src/host/core.ts'
import type {
  LaunchedOwner,
  Launcher,
  OwnerLaunch,
  ProcessExit,
} from '../../src/host/supervise/launch-owner.ts'
import { realDisk } from '../../src/store/disk.ts'
import type { Task } from '../../src/store/tasks/task.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { gitWorkspace } from './git-workspace.ts'
import { abandonedRun, type HostStage, hostStage } from './host-stage.ts'
import { tempDir } from './temp-dir.ts'
import { until } from './until.ts'

/** An owner that a test plays. */
export interface PlayedOwner {
  readonly launch: OwnerLaunch
  readonly pid: number
  /** Ends it, with a line in its diagnostic when one is given. */
  exit(line?: object): Promise<void>
}

/** A host core with a launcher whose owners the test plays. */
export interface CoreStage extends HostStage {
  readonly clock: FakeClock
  readonly core: HostCore
  readonly owners: PlayedOwner[]
  /** Tasks whose end was told. */
  readonly ended: string[]
  /** The program that the policy names. */
  readonly program: string
  /** A workspace that the policy covers. */
  readonly workspace: string
  switchOn(over?: Partial<PolicyTerms>): Promise<AutostartPolicy>
  /** The journal, one word a line: `event task` or `event task@turn`. */
  journal(): Promise<string[]>
  /** The note that devices get with a task. */
  noteOf(taskId: string): Promise<string | null>
  /** What was logged as a warning. */
  readonly warnings: { readonly facts: HostFacts; readonly message: string }[]
  details(event: string): Promise<(string | undefined)[]>
  /** Another core on the same home, as after a restart of the service. */
  reopen(): HostCore
}

/** Beyond the largest process ID that Linux gives. */
const firstPlayedPid = 5_000_000

export async function coreStage(): Promise<CoreStage> {
  const clock = fakeClock()
  const stage = await hostStage(clock)
  const { path: workspace } = await gitWorkspace()
  const program = join(await tempDir(), 'program')
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 })
  const owners: PlayedOwner[] = []
  const ended: string[] = []
  const warnings: CoreStage['warnings'] = []
  const workspaces = [{ label: 'demo', path: workspace }]
  const deps: HostCoreDeps = {
    disk: realDisk,
    clock,
    home: stage.home,
    tasks: stage.tasks,
    launcher: playedLauncher(owners),
    workspaces: () => workspaces,
    ended: (taskId) => void ended.push(taskId),
    log: {
      info() {},
      warn: (facts, message) => void warnings.push({ facts, message }),
    },
  }
  const journal = openAutostartJournal(realDisk, clock, stage.home)
  const core = openHostCore(deps)
  onTestFinished(() => core.close())
  return {
    ...stage,
    clock,
    core,
    owners,
    ended,
    warnings,
    program,
    workspace,
    switchOn: (over = {}) =>
      switchOn(
        { disk: realDisk, clock, home: stage.home, workspaces },
        {
          workspaces: ['demo'],
          max_running: 1,
          program,
          arguments: ['-x'],
          write_workspace: true,
          wall_seconds: 60,
          stream_bytes: 65_536,
          memory_bytes: 268_435_456,
          ...over,
        },
      ),
    journal: async () =>
      (await journal.entries()).map(({ event, task, turn }) =>
        [event, turn === undefined ? task : `${task}@${turn}`].filter((word) => word !== undefined).join(' '),
      ),
    async noteOf(taskId) {
      const file = await realDisk.identity(`${stage.storeDir}/task/${taskId}.json`)
      return (await core.notes())(await stage.tasks.show(taskId), file?.mtimeNs ?? null)
    },
    details: async (event) =>
      (await journal.entries()).filter((entry) => entry.event === event).map(({ detail }) => detail),
    reopen: () => openHostCore(deps),
  }
}

function playedLauncher(owners: PlayedOwner[]): Launcher {
  return {
    async launch(launch): Promise<LaunchedOwner> {
      const pid = firstPlayedPid + owners.length
      let resolve: (exit: ProcessExit) => void = () => {}
      const exited = new Promise<ProcessExit>((done) => {
        resolve = done
      })
      owners.push({
        launch,
        pid,
        async exit(line) {
          if (line !== undefined) await writeFile(launch.diagnosticPath, `${JSON.stringify(line)}\n`)
          resolve({ code: line === undefined ? 0 : 1, signal: null })
          await exited
        },
      })
      return { pid, exited }
    },
  }
}

/** Plays an owner that admits a turn, runs it and records its end. */
export async function runToEnd(stage: CoreStage, taskId: string): Promise<Task> {
  await abandonedRun(stage, taskId, stage.workspace, null)
  const lock = await stage.ownerLock(taskId)
  const result = {
    ending: 'exit 0',
    exit_code: 0,
    stop_requested: false,
    group_clear: true,
    elapsed_ms: 1,
    trace_digest: `sha256:${'0'.repeat(64)}`,
    candidate_snapshot: null,
    artifact_file: null,
    artifact_digest: null,
    output_incomplete: false,
    cost_status: 'unknown' as const,
  }
  const task = await stage.tasks.record(taskId, { type: 'result', result }, 1, lock)
  await lock.release()
  return task
}

/** Ends an owner, and waits until the core has dealt with it. */
export async function exit(stage: CoreStage, index: number, refusal?: { code: string; message: string }) {
  const told = stage.ended.length
  await stage.owners[index]?.exit(refusal === undefined ? undefined : { error: refusal })
  await until(() => stage.ended.length > told)
  // What follows from an exit is done in the same piece of work; a further plan waits for its end.
  await stage.core.plan('task-none')
}

/** A stage with a policy in force and one submitted task that it covers. */
export async function covered(over: Partial<PolicyTerms> = {}): Promise<CoreStage> {
  const stage = await coreStage()
  await stage.switchOn(over)
  await stage.submit('task-1', stage.workspace)
  return stage
}
