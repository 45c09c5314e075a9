import { resolve } from 'node:path'
import { defaultGrantTerms, draftGrant } from '../host/grant-draft.ts'
import { canonicalPath } from '../host/probe/paths.ts'
import { pinProgram } from '../host/probe/program.ts'
import { Refusal } from '../protocol/refusal.ts'
import { realDisk } from '../store/disk.ts'
import { parseExecutionGrant } from '../store/tasks/grant.ts'
import { withStore } from './deps.ts'
import type { Door } from './door.ts'
import { knownTask } from './known-task.ts'
import { type Answer, facts } from './output.ts'

const mib = 1_048_576

/** The choices of `grant new`; sizes in MiB and KiB. */
export interface GrantChoices {
  program: string
  arg?: string[] | undefined
  write?: true | undefined
  wallSeconds?: number | undefined
  memoryMib?: number | undefined
  streamKib?: number | undefined
  out?: string | undefined
  store?: string | undefined
}

/**
 * Drafts a complete grant for the task's current turn, at its current revision: any later change of the task makes
 * it stale. Refuses `not_found`, `invalid_transition` when no turn waits, `io` and `unsafe_path` for the program or
 * a file that is there already.
 */
export async function draft(door: Door, id: string, choices: GrantChoices): Promise<Answer> {
  const whole = await knownTask(door, choices.store, id)
  const task = await withStore(door, choices.store, (store) => store.show(whole), { readOnly: true })
  if (task.status !== 'queued') {
    throw new Refusal('invalid_transition', `the task is ${task.status}: only a queued turn can be granted`)
  }
  const program = await canonicalPath(choices.program)
  await pinProgram(program)
  const { text } = draftGrant(task, {
    program,
    arguments: choices.arg ?? [],
    write_workspace: choices.write ?? defaultGrantTerms.write_workspace,
    wall_seconds: choices.wallSeconds ?? defaultGrantTerms.wall_seconds,
    stream_bytes: choices.streamKib === undefined ? defaultGrantTerms.stream_bytes : choices.streamKib * 1024,
    memory_bytes: choices.memoryMib === undefined ? defaultGrantTerms.memory_bytes : choices.memoryMib * mib,
  })
  const bytes = new TextEncoder().encode(text)
  const { grant } = parseExecutionGrant(bytes)
  const out = choices.out === undefined ? null : resolve(choices.out)
  if (out !== null && !(await realDisk.create(out, bytes))) {
    throw new Refusal('io', `${out} is there already`, { hint: 'Name another file with --out.' })
  }
  const shown = facts([
    ['task', grant.task_id],
    ['revision', String(grant.expected_revision)],
    ['program', grant.program],
    ['arguments', JSON.stringify(grant.arguments)],
    ['workspace is', grant.write_workspace ? 'writable' : 'read-only'],
    ['deadline', `${grant.wall_seconds} s`],
    ['memory', `${grant.memory_bytes / mib} MiB`],
  ])
  const next = out === null ? text : `Start it with: drawbridge task start --grant ${out}\n`
  return { json: { grant, file: out }, text: `${shown}${next}` }
}
