import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJournal } from '../../../src/commands/journal-file.ts'

/** What a home came to, without what differs from run to run: times, and the marks of who wrote what when. */
export interface Outcome {
  readonly journal: readonly unknown[]
  readonly task: readonly unknown[]
  readonly identities: readonly string[]
}

/** Reads what a home whose service has ended came to with one task. Throws when a file does not read. */
export async function outcomeOf(home: string, task: string): Promise<Outcome> {
  const dir = join(home, 'tasks')
  const { entries } = await journalOf(home)
  const file = JSON.parse(await readFile(join(dir, 'task', `${task}.json`), 'utf8'))
  const log = await readFile(join(dir, 'identities.log'), 'utf8')
  const commands: string[] = file.commands.map(({ request }: { request: string }) => request)
  const outcome: Outcome = {
    journal: entries.map(({ request, state, edited, promoted }) => {
      const { issued_at: _, ...asked } = request
      return { ...asked, state, edited, promoted }
    }),
    task: [file.task.revision, file.task.status, ...commands.map((text) => JSON.parse(text))],
    identities: [...new Set(log.split('\n').filter((line) => line.includes(task)))].sort(),
  }
  // A task that was created at another try has another ID.
  return JSON.parse(JSON.stringify(outcome).replaceAll(task, 'TASK').replaceAll(task.slice(0, 48), 'TASK'))
}

/** The journal on the disk, which always reads. */
export async function journalOf(home: string) {
  return parseJournal(await readFile(join(home, 'tasks', 'commands.json')))
}
