import { isRefusal } from '../../protocol/refusal.ts'
import { isContextOf } from './context.ts'
import { effectivePrompt, traceFile } from './derived.ts'
import { type ParsedGrant, parseExecutionGrant } from './grant.ts'
import { isFullRevision, isWorkspacePath } from './intent.ts'
import type { Admission, Task } from './task.ts'
import { boundedCommand } from './words.ts'

const networks = ['network_namespace_isolated', 'external_ip_denied_localhost_allowed']
const readScopes = ['workspace_and_system']
const authorities = ['local_os_user']

/**
 * Why an admission is not one of this task as it stands, or null when it is. The retained grant text is read and
 * hashed again, so nothing in the admission is taken on its word.
 * @see spec/execution.md §3
 */
export function admissionFault(admission: Admission, task: Task): string | null {
  return (
    grantFault(admission, task) ??
    adapterFault(admission, task) ??
    boundaryFault(admission) ??
    digestFault(admission) ??
    turnFault(admission, task)
  )
}

function grantFault(admission: Admission, task: Task): string | null {
  const parsed = reparsed(admission.grant_request)
  if (parsed === null) return 'grant_request'
  if (parsed.digest !== admission.grant_digest) return 'grant_digest'
  if (JSON.stringify(parsed.grant) !== JSON.stringify(admission.grant)) return 'grant'
  const { task_id, intent_digest, expected_revision } = parsed.grant
  if (task_id !== task.task_id) return 'grant.task_id'
  if (intent_digest !== task.intent_digest) return 'grant.intent_digest'
  return expected_revision === task.revision ? null : 'grant.expected_revision'
}

function reparsed(text: string): ParsedGrant | null {
  try {
    return parseExecutionGrant(new TextEncoder().encode(text))
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

/** Without an adapter configuration, which no grant carries yet, the bounded command is the only adapter. */
function adapterFault(admission: Admission, task: Task): string | null {
  const { adapter, model } = task.intent.configuration
  if (admission.adapter !== adapter || adapter !== boundedCommand) return 'adapter'
  return model === null ? null : 'model'
}

function boundaryFault({ network, read_scope, authority, workspace }: Admission): string | null {
  if (!networks.includes(network)) return 'network'
  if (!readScopes.includes(read_scope)) return 'read_scope'
  if (!authorities.includes(authority)) return 'authority'
  return isWorkspacePath(workspace) ? null : 'workspace'
}

function digestFault({ source_revision, source_snapshot, program_digest }: Admission): string | null {
  if (!isFullRevision(source_revision)) return 'source_revision'
  if (!/^[0-9a-f]{64}$/.test(source_snapshot)) return 'source_snapshot'
  return /^sha256:[0-9a-f]{64}$/.test(program_digest) ? null : 'program_digest'
}

function turnFault({ context, trace_file }: Admission, task: Task): string | null {
  if (trace_file !== traceFile(task)) return 'trace_file'
  return isContextOf(context, task.revision, effectivePrompt(task)) ? null : 'context'
}
