import { Refusal } from '../../protocol/refusal.ts'
import { admissionFault } from './admission.ts'
import { effectId, isSuperseded } from './derived.ts'
import type { HostEvent } from './host-event.ts'
import { executionAfter, resultFault } from './result.ts'
import type { Admission, Run, RunResult, Task } from './task.ts'
import { inOrder } from './transition.ts'
import { ownerProcessEnded } from './words.ts'

/**
 * What a host event makes of a task. Pure. Every event adds one to the revision.
 * @param epoch the epoch under which the recorder acts; 1 for a live owner, so that recovery shuts a stale one out
 * @throws `invalid_transition` when a condition of the event does not hold
 * @see spec/execution.md §3
 */
export function applyEvent(task: Task, event: HostEvent, epoch: number): Task {
  const next = moved(task, event, epoch)
  return inOrder({ ...next, revision: task.revision + 1 })
}

function moved(task: Task, event: HostEvent, epoch: number): Task {
  switch (event.type) {
    case 'admitted':
      return admitted(task, event.admission, epoch)
    case 'effect_intent':
      return intended(task, event.effect_id, epoch)
    case 'spawned':
      return spawned(task, event.process_id, epoch)
    case 'result':
      return ended(task, event.result, epoch)
    case 'owner_lost':
      return ownerLost(task, epoch)
    case 'check_intent':
      return checksIntended(task, epoch)
    case 'checked':
      // Only a run with requirements can have checks under way, and no grant may carry requirements yet.
      throw refusal('checked', 'the run has no requirements')
    case 'check_owner_lost':
      return checkerLost(task, epoch)
  }
}

function admitted(task: Task, admission: Admission, epoch: number): Task {
  need(task.run === undefined, 'admitted', 'the turn has a run already')
  need(task.status === 'queued', 'admitted', `the task is ${task.status}`)
  need(epoch === 1, 'admitted', 'a run begins at epoch 1')
  const fault = admissionFault(admission, task)
  need(fault === null, 'admitted', `the admission's ${fault} does not fit the task`)
  const run: Run = {
    epoch: 1,
    admission,
    effect_id: null,
    result: null,
    process_id: null,
    recovery_reason: null,
    check_report: null,
  }
  return { ...task, run, status: 'running', execution: 'running' }
}

function intended(task: Task, effect: string, epoch: number): Task {
  const run = runAt(task, 'effect_intent', epoch)
  need(run.effect_id === null, 'effect_intent', 'the effect is recorded already')
  need(task.status === 'running', 'effect_intent', `the task is ${task.status}`)
  need(effect === effectId(task), 'effect_intent', 'the effect belongs to another turn')
  return { ...task, run: { ...run, effect_id: effect } }
}

function spawned(task: Task, process: number, epoch: number): Task {
  const run = runAt(task, 'spawned', epoch)
  need(run.effect_id !== null, 'spawned', 'no effect was recorded before')
  need(run.process_id === null, 'spawned', 'a process is recorded already')
  need(process > 0, 'spawned', 'a process id is positive')
  need(isLive(task), 'spawned', `the task is ${task.status}`)
  return { ...task, run: { ...run, process_id: process } }
}

function ended(task: Task, result: RunResult, epoch: number): Task {
  const run = runAt(task, 'result', epoch)
  const orphaned = result.ending === ownerProcessEnded
  need(run.result === null, 'result', 'the result is recorded already')
  need(isLive(task) || (task.status === 'unknown' && orphaned), 'result', `the task is ${task.status}`)
  need(result.group_clear || !orphaned, 'result', 'an orphaned run ends only once its processes are gone')
  const fault = resultFault(result)
  need(fault === null, 'result', `its ${fault} does not hold`)
  return {
    ...task,
    run: { ...run, result },
    status: result.group_clear ? 'finished' : 'unknown',
    execution: executionAfter(task, result),
  }
}

function ownerLost(task: Task, epoch: number): Task {
  const run = runAt(task, 'owner_lost', epoch - 1)
  need(isLive(task), 'owner_lost', `the task is ${task.status}`)
  const lost: Run = { ...run, epoch, recovery_reason: 'owner_lost_effects_not_replayed' }
  return { ...task, run: lost, status: 'unknown', execution: 'unknown' }
}

function checksIntended(task: Task, epoch: number): Task {
  const run = runAt(task, 'check_intent', epoch)
  need(task.status === 'finished', 'check_intent', `the task is ${task.status}`)
  need(task.checks === 'not_run', 'check_intent', `checks are ${task.checks}`)
  need(!isSuperseded(task), 'check_intent', 'the run was corrected since')
  need(run.result !== null, 'check_intent', 'the run has no result')
  need(run.admission.grant.requirements !== null, 'check_intent', 'the run has no requirements')
  return { ...task, checks: 'running' }
}

function checkerLost(task: Task, epoch: number): Task {
  const run = runAt(task, 'check_owner_lost', epoch - 1)
  need(task.checks === 'running', 'check_owner_lost', `checks are ${task.checks}`)
  return { ...task, run: { ...run, epoch, recovery_reason: 'checker_owner_lost' }, checks: 'unavailable' }
}

/** The current run, provided that it stands at `epoch`. */
function runAt(task: Task, event: HostEvent['type'], epoch: number): Run {
  if (task.run === undefined) throw refusal(event, 'the turn has no run')
  if (task.run.epoch !== epoch) throw refusal(event, `the run is at epoch ${task.run.epoch}`)
  return task.run
}

function isLive(task: Task): boolean {
  return task.status === 'running' || task.status === 'cancel_requested'
}

function need(holds: boolean, event: HostEvent['type'], otherwise: string): void {
  if (!holds) throw refusal(event, otherwise)
}

function refusal(event: HostEvent['type'], why: string): Refusal {
  return new Refusal('invalid_transition', `${event}: ${why}`)
}
