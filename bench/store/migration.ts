import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { durableReplace } from '../floors/durable.ts'
import { compare, timed } from '../measure.ts'
import { fillStore, scratch, taskFileBytes } from './filled-store.ts'
import { inProcesses } from './in-process.ts'

const tasks = 1_000
const rounds = 3

/**
 * The document of an older program with 1,000 tasks made into a store, in a fresh process; in turn with the floor: as
 * many durable replacements of files as large, sixteen at a time.
 */
export async function storeMigration(): Promise<void> {
  const { base, remove } = await scratch()
  const document = await legacyDocument(join(base, 'source'))
  const [product, floor]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    const dir = join(base, `store-${round}`)
    await mkdir(dir, { mode: 0o700 })
    await writeFile(join(dir, 'tasks.lock'), '', { mode: 0o600 })
    await writeFile(join(dir, 'tasks.json'), document, { mode: 0o600 })
    product.push(...(await inProcesses([['migrate', dir]])).flat())
    floor.push(await timed(() => bareWrites(join(base, `bare-${round}`))))
  }
  await remove()
  compare(`store-migration: ${tasks} tasks of 4 KiB beside as many durable writes`, product, floor)
}

async function bareWrites(dir: string): Promise<void> {
  await mkdir(dir)
  const bytes = Buffer.alloc(taskFileBytes, 't')
  for (let start = 0; start < tasks; start += 16) {
    const some = Array.from({ length: Math.min(16, tasks - start) }, (_, index) => `file-${start + index}`)
    await Promise.all(some.map((name) => durableReplace(dir, name, bytes)))
  }
}

interface StoredTask {
  readonly task: { readonly task_id: string }
  readonly commands: readonly { readonly request: string; readonly receipt: object }[]
}

/** What an older program would have kept of as many tasks, each submitted once. */
async function legacyDocument(dir: string): Promise<string> {
  await fillStore(dir, tasks)
  const names = (await readdir(join(dir, 'task'))).filter((name) => name.endsWith('.json'))
  const files: StoredTask[] = []
  for (const name of names) files.push(JSON.parse(await readFile(join(dir, 'task', name), 'utf8')))
  const commands = files.flatMap((file, index) =>
    file.commands.map(({ request, receipt }) => ({ request, receipt: { ...receipt, sequence: index + 1 } })),
  )
  return JSON.stringify({
    schema: 'openagents.coder.task-store.v2',
    sequence: commands.length,
    tasks: Object.fromEntries(files.map(({ task }) => [task.task_id, task])),
    commands,
  })
}
