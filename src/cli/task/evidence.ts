import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { readArtifact } from '../../host/artifacts/read.ts'
import { readView, type TaskView } from '../../host/trace/view.ts'
import { type ViewCursor, viewCursorSchema } from '../../host/trace/view-cursor.ts'
import { viewCursorBytesMax } from '../../limits.ts'
import { isRefusal } from '../../protocol/refusal.ts'
import { parseStrictJsonText } from '../../protocol/strict-json.ts'
import { realDisk } from '../../store/disk.ts'
import { withStore } from '../deps.ts'
import type { Door } from '../door.ts'
import { knownTask } from '../known-task.ts'
import { type Answer, facts } from '../output.ts'
import { jsonLine } from '../printable.ts'
import { stepsText } from '../steps.ts'
import { madeRepositories } from './made-repositories.ts'

const limitDefault = 100

interface ViewOptions {
  limit?: number | undefined
  cursor?: string | undefined
  store?: string | undefined
}

/**
 * The current turn's evidence, a page of it. A cursor that is none is a usage error; one that does not belong here
 * refuses `command_conflict`. @see spec/evidence.md §5
 */
export async function view(
  door: Door,
  id: string,
  options: ViewOptions,
  command: CommandUnknownOpts,
): Promise<Answer> {
  const cursor = options.cursor === undefined ? null : readCursor(options.cursor)
  if (cursor === 'none') command.error('error: --cursor takes the value of evidence.next, as JSON')
  const page = { limit: options.limit ?? limitDefault, cursor }
  const whole = await knownTask(door, options.store, id)
  const found = await withStore(door, options.store, (store) => readView(realDisk, store, whole, page), {
    readOnly: true,
  })
  return { json: found, text: viewText(found) }
}

/** A file that the turn left, from its kept copy: works after the workspace file is gone. */
export async function artifact(
  door: Door,
  id: string,
  options: { path: string; store?: string | undefined },
): Promise<Answer> {
  const whole = await knownTask(door, options.store, id)
  const kept = await withStore(
    door,
    options.store,
    async (store) => readArtifact(realDisk, store.dir, await store.show(whole), options.path),
    { readOnly: true },
  )
  const json = { path: kept.path, digest: kept.digest, bytes: [...kept.bytes] }
  return { json, text: jsonLine(json) }
}

function readCursor(text: string): ViewCursor | 'none' {
  try {
    const { value } = parseStrictJsonText(text, { bytesMax: viewCursorBytesMax })
    const parsed = viewCursorSchema.safeParse(value)
    return parsed.success ? parsed.data : 'none'
  } catch (error) {
    if (isRefusal(error)) return 'none'
    throw error
  }
}

function viewText(found: TaskView): string {
  const { task, evidence, artifacts } = found
  const run = task.run
  const head = facts([
    ['task', task.task_id],
    ['status', `${task.status}, ${task.execution}`],
    ['evidence', evidence.state],
    ['trace', evidence.trace_file ?? 'none'],
    ...(run?.result ? [['ending', run.result.ending] as const] : []),
    ...(found.artifact_error === null ? [] : [['artifacts', found.artifact_error] as const]),
  ])
  const entries = artifacts?.entries ?? []
  const changes: (readonly [string, string])[] = entries.map(({ path, state }) => [state, path])
  for (const path of madeRepositories(entries)) {
    changes.push(['look first', `the turn made ${path}: its hooks are the turn's`])
  }
  const more = evidence.more_available
    ? `${evidence.total_steps} steps in all; --json gives the cursor\n`
    : ''
  return `${head}${stepsText(evidence.steps)}${changes.length === 0 ? '' : facts(changes)}${more}`
}
