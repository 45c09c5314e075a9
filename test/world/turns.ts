import { effectivePrompt } from '../../src/store/tasks/derived.ts'
import type { Task } from '../../src/store/tasks/task.ts'
import { beginTurn, endTurn, ownerCommand } from '../support/turns.ts'
import { taskIds } from './cast.ts'
import type { Ending, Step } from './steps.ts'
import { attempt, nowOf, type World } from './world.ts'

type TurnStep = Extract<Step, { do: 'begin' | 'end' | 'cancel' | 'continue' | 'archive' | 'restore' }>

/** What a turn's owner process or the operator does to a task; whatever becomes of it, the host looks at the task then. */
export function takeTurnStep(world: World, step: TurnStep): void {
  const task = taskIds[step.task] ?? taskIds[0]
  void attempt(doIt(world, task, step)).then(() => world.host.commands.evaluate(task))
}

async function doIt(world: World, task: string, step: TurnStep): Promise<void> {
  switch (step.do) {
    case 'begin':
      return await begin(world, task)
    case 'end':
      return await end(world, task, step.how)
    case 'cancel':
      return await ownerCommand(world.host.tasks, task, { type: 'cancel', reason: 'enough' })
    case 'continue':
      return await ownerCommand(world.host.tasks, task, { type: 'continue', prompt: 'by hand' })
    case 'archive':
      world.everArchived.add(task)
      await world.host.archive.archive(task, 'done with', { kind: 'owner' }, nowOf(world))
      world.archived.add(task)
      return
    case 'restore':
      await world.host.archive.restore(task)
      world.archived.delete(task)
  }
}

export async function begin(world: World, taskId: string): Promise<void> {
  const task = await beginTurn(world.host.tasks, taskId)
  const prompt = promptAtAdmission(task)
  const started = world.sabotage.prompt?.(prompt, world) ?? prompt
  world.started.set(started, (world.started.get(started) ?? 0) + 1)
}

export async function end(world: World, task: string, how: Ending): Promise<void> {
  if (how === 'lost') {
    const { status } = await world.host.tasks.show(task)
    if (status === 'running' || status === 'cancel_requested') world.lost.add(task)
    return
  }
  if (world.lost.has(task)) return
  await endTurn(world.host.tasks, task, resultOf(how))
}

function resultOf(how: Ending): Parameters<typeof endTurn>[2] {
  switch (how) {
    case 'exit 1':
      return { ending: how, exit_code: 1 }
    case 'murky':
      return { ending: 'exit 0', group_clear: false }
    default:
      return { ending: how, exit_code: 0 }
  }
}

/** What the engine was given: what was there when the turn was admitted. */
function promptAtAdmission(task: Task): string {
  const at = task.run?.admission.context.task_revision ?? task.revision
  const until = <T extends { revision: number }>(all: readonly T[] = []) =>
    all.filter(({ revision }) => revision <= at)
  const { corrections, follow_ups } = task
  return effectivePrompt({ ...task, corrections: until(corrections), follow_ups: until(follow_ups) })
}
