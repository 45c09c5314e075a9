/** What the page says of one task, in the plainest form: enough to say what every step gives. */
export interface Model {
  revision: number
  status: string
  execution: string
  checks: string
  runs: number
  run: { epoch: number; intended: boolean; ended: boolean } | null
}

export type CommandKind = 'submit' | 'cancel' | 'correct' | 'continue'
export type EventKind = 'admit' | 'intend' | 'end' | 'lose' | 'settle'

/** What a command gives: the code it is refused with, or null after `models` was moved on. */
export function modelCommand(
  models: Map<string, Model>,
  task: string,
  kind: CommandKind,
  revision: number,
): string | null {
  const model = models.get(task)
  if (kind === 'submit') {
    if (model !== undefined) return 'invalid_transition'
    models.set(task, {
      revision: 1,
      status: 'queued',
      execution: 'not_started',
      checks: 'not_run',
      runs: 0,
      run: null,
    })
    return null
  }
  if (model === undefined) return 'not_found'
  if (revision !== model.revision) return 'revision_mismatch'
  if (kind === 'cancel') {
    if (!['queued', 'running'].includes(model.status)) return 'invalid_transition'
    model.status = model.status === 'queued' ? 'cancelled' : 'cancel_requested'
  }
  if (kind === 'correct') {
    if (model.run !== null) model.checks = 'disputed'
    if (model.status === 'running') model.status = 'cancel_requested'
  }
  if (kind === 'continue') {
    if (!['finished', 'cancelled'].includes(model.status)) return 'invalid_transition'
    if (model.run !== null) model.runs += 1
    Object.assign(model, { status: 'queued', execution: 'not_started', checks: 'not_run', run: null })
  }
  model.revision += 1
  return null
}

/** What a host event gives, likewise. Every task works in one workspace. */
export function modelEvent(
  models: Map<string, Model>,
  task: string,
  kind: EventKind,
  outcome: { exit: number; clear: boolean },
): string | null {
  const model = models.get(task)
  if (model === undefined) return 'not_found'
  const refusal = kind === 'admit' ? modelAdmission(models, task, model) : modelProgress(model, kind, outcome)
  if (refusal === null) model.revision += 1
  return refusal
}

function modelAdmission(models: Map<string, Model>, task: string, model: Model): string | null {
  for (const [other, { status }] of models) {
    if (other !== task && ['running', 'cancel_requested', 'unknown'].includes(status)) return 'workspace_busy'
  }
  if (model.status !== 'queued') return 'invalid_transition'
  Object.assign(model, {
    status: 'running',
    execution: 'running',
    run: { epoch: 1, intended: false, ended: false },
  })
  return null
}

function modelProgress(
  model: Model,
  kind: Exclude<EventKind, 'admit'>,
  { exit, clear }: { exit: number; clear: boolean },
): string | null {
  const { run } = model
  const live = ['running', 'cancel_requested'].includes(model.status)
  if (run === null || run.ended) return 'invalid_transition'
  if (kind === 'intend') {
    if (model.status !== 'running' || run.intended) return 'invalid_transition'
    run.intended = true
  }
  if (kind === 'lose') {
    if (!live) return 'invalid_transition'
    run.epoch += 1
    Object.assign(model, { status: 'unknown', execution: 'unknown' })
  }
  if (kind === 'end' || kind === 'settle') {
    if (kind === 'end' ? !live : !clear) return 'invalid_transition'
    run.ended = true
    model.execution = executionOf(model, exit, clear)
    model.status = clear ? 'finished' : 'unknown'
  }
  return null
}

function executionOf(model: Model, exit: number, clear: boolean): string {
  if (!clear) return 'unknown'
  if (model.status === 'cancel_requested') return 'stopped'
  return exit === 0 ? 'finished' : 'failed'
}
