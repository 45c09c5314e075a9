import { openHome } from '../bridge/home.ts'
import { homePaths } from '../bridge/paths.ts'
import { openAutostartJournal } from '../host/autostart/journal.ts'
import { type AutostartPolicy, readPolicy, writePolicy } from '../host/autostart/policy.ts'
import { defaultGrantTerms } from '../host/grant-draft.ts'
import { canonicalPath, containsPath } from '../host/probe/paths.ts'
import { pinProgram } from '../host/probe/program.ts'
import { Refusal } from '../protocol/refusal.ts'
import { nowSeconds } from '../seams/clock.ts'
import { realDisk } from '../store/disk.ts'
import { withSettingsLock } from '../store/settings-lock.ts'
import type { Door } from './door.ts'
import { type Answer, facts, localTime } from './output.ts'

const mib = 1_048_576

/** The choices of `autostart on`; sizes in MiB and KiB. */
export interface PolicyChoices {
  workspace: string[]
  adapter?: string | undefined
  program: string
  arg?: string[] | undefined
  write?: true | undefined
  maxRunning?: number | undefined
  wallSeconds?: number | undefined
  memoryMib?: number | undefined
  streamKib?: number | undefined
}

/**
 * Puts a policy in force. The program is made canonical and its digest pinned, both shown.
 * Refuses `unsupported` for another adapter, `not_found` for a workspace that the host does not have, `io` and
 * `unsafe_path` for a program that is no regular file.
 */
export async function turnOn(door: Door, choices: PolicyChoices): Promise<Answer> {
  const { settings } = await openHome(realDisk, door.home)
  if (choices.adapter !== undefined && choices.adapter !== 'bounded-command') {
    throw new Refusal('unsupported', 'this version has one adapter, bounded-command')
  }
  const unknown = choices.workspace.find(
    (label) => !settings.workspaces.some((known) => known.label === label),
  )
  if (unknown !== undefined) {
    throw new Refusal('not_found', `no workspace is called ${unknown}`, {
      hint: `drawbridge workspace add ${unknown}=PATH`,
    })
  }
  const program = await canonicalPath(choices.program)
  const writable = settings.workspaces.filter(
    ({ label }) => choices.write && choices.workspace.includes(label),
  )
  if (writable.some(({ path }) => containsPath(path, program))) {
    throw new Refusal('unsafe_path', 'the program lies in a workspace that its own turns may change')
  }
  const policy: AutostartPolicy = {
    schema: 'openagents.coder.host-autostart.v1',
    enabled: true,
    workspaces: choices.workspace,
    max_running: choices.maxRunning ?? 1,
    engine: {
      adapter: 'bounded-command',
      program,
      program_digest: await pinProgram(program),
      arguments: choices.arg ?? [],
      write_workspace: choices.write ?? defaultGrantTerms.write_workspace,
      wall_seconds: choices.wallSeconds ?? defaultGrantTerms.wall_seconds,
      stream_bytes:
        choices.streamKib === undefined ? defaultGrantTerms.stream_bytes : choices.streamKib * 1024,
      memory_bytes:
        choices.memoryMib === undefined ? defaultGrantTerms.memory_bytes : choices.memoryMib * mib,
      model: null,
      effort: null,
    },
    changed_at: nowSeconds(door.clock),
  }
  await withSettingsLock(door.clock, policyFile(door), async () => {
    await writePolicy(realDisk, door.home, policy)
    await openAutostartJournal(realDisk, door.clock, door.home).append({ event: 'policy_on' })
  })
  return shown(policy)
}

/** Takes the policy out of force; what runs goes on. */
export async function turnOff(door: Door): Promise<Answer> {
  await openHome(realDisk, door.home)
  return withSettingsLock(door.clock, policyFile(door), async () => {
    const policy = await readPolicy(realDisk, door.home)
    if (policy === null || !policy.enabled) return shown(policy)
    const off = { ...policy, enabled: false, changed_at: nowSeconds(door.clock) }
    await writePolicy(realDisk, door.home, off)
    await openAutostartJournal(realDisk, door.clock, door.home).append({ event: 'policy_off' })
    return shown(off)
  })
}

/** The policy in force; none and an unreadable one are off. */
export async function show(door: Door): Promise<Answer> {
  await openHome(realDisk, door.home)
  return shown(await readPolicy(realDisk, door.home))
}

function policyFile(door: Door): string {
  return `${homePaths(door.home).host}/autostart.json`
}

function shown(policy: AutostartPolicy | null): Answer {
  if (policy === null) return { json: { enabled: false }, text: 'off: every turn waits for a grant\n' }
  const { engine } = policy
  const text = facts([
    ['policy', policy.enabled ? 'on' : 'off'],
    ['since', localTime(policy.changed_at)],
    ['workspaces', policy.workspaces.join(', ')],
    ['running at once', String(policy.max_running)],
    ['program', engine.program],
    ['digest', engine.program_digest],
    ['arguments', JSON.stringify(engine.arguments)],
    ['workspace is', engine.write_workspace ? 'writable' : 'read-only'],
    ['deadline', `${engine.wall_seconds} s`],
    ['memory', `${engine.memory_bytes / mib} MiB`],
    ['output held', `${engine.stream_bytes / 1024} KiB`],
  ])
  return { json: policy, text }
}
