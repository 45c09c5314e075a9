import { openHome } from '../bridge/home.ts'
import { homePaths } from '../bridge/paths.ts'
import { type PolicyHome, type PolicyTerms, switchOff, switchOn } from '../host/autostart/change-policy.ts'
import { type AutostartPolicy, readPolicy } from '../host/autostart/policy.ts'
import { defaultGrantTerms } from '../host/grant-draft.ts'
import { Refusal } from '../protocol/refusal.ts'
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
 * Refuses `unsupported` for another adapter, and as `switchOn` does.
 */
export async function turnOn(door: Door, choices: PolicyChoices): Promise<Answer> {
  const { settings } = await openHome(realDisk, door.home)
  if (choices.adapter !== undefined && choices.adapter !== 'bounded-command') {
    throw new Refusal('unsupported', 'this version has one adapter, bounded-command')
  }
  const terms: PolicyTerms = {
    workspaces: choices.workspace,
    max_running: choices.maxRunning ?? 1,
    program: choices.program,
    arguments: choices.arg ?? [],
    write_workspace: choices.write ?? defaultGrantTerms.write_workspace,
    wall_seconds: choices.wallSeconds ?? defaultGrantTerms.wall_seconds,
    stream_bytes: choices.streamKib === undefined ? defaultGrantTerms.stream_bytes : choices.streamKib * 1024,
    memory_bytes: choices.memoryMib === undefined ? defaultGrantTerms.memory_bytes : choices.memoryMib * mib,
  }
  const at = policyHome(door, settings.workspaces)
  return shown(await withSettingsLock(door.clock, policyFile(door), () => switchOn(at, terms)))
}

/** Takes the policy out of force; what runs goes on. */
export async function turnOff(door: Door): Promise<Answer> {
  const { settings } = await openHome(realDisk, door.home)
  const at = policyHome(door, settings.workspaces)
  return shown(await withSettingsLock(door.clock, policyFile(door), () => switchOff(at)))
}

/** The policy in force; none and an unreadable one are off. */
export async function show(door: Door): Promise<Answer> {
  await openHome(realDisk, door.home)
  return shown(await readPolicy(realDisk, door.home))
}

function policyHome(door: Door, workspaces: PolicyHome['workspaces']): PolicyHome {
  return { disk: realDisk, clock: door.clock, home: door.home, workspaces }
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
