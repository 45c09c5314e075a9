import { readJournal } from '../commands/journal-store.ts'
import { Refusal } from '../protocol/refusal.ts'
import type { Clock } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import { openArchive } from '../store/archive.ts'
import { openTaskStore } from '../store/tasks/store.ts'
import { readAccessBook } from './access/book.ts'
import { checkGeneration } from './generation.ts'
import type { OpenHome } from './home.ts'
import { withModeHints } from './home-check.ts'
import { checkKeptReplies } from './kept-replies.ts'
import { tightJournal, tightStore } from './tight.ts'

/** One thing of a home that the service reads when it starts. */
export interface HomePart {
  readonly name: string
  /** What to do when it does not read and the refusal itself does not say. */
  readonly fix: string
  /** Reads it, and says what is there. Refuses as the service would. */
  look(): Promise<Seen>
}

/** What is there, and what is well but will not last, with what to do. */
export type Seen = string | { readonly detail: string; readonly tight: readonly string[] }

/**
 * What the service will read of an initialised home, each to be looked at by itself. Nothing is written, and no lock
 * is taken, so a running service is not disturbed.
 * @see spec/cli.md
 */
export function homeParts(deps: { disk: Disk; clock: Clock }, open: OpenHome): HomePart[] {
  const { disk, clock } = deps
  const { paths, hostKey, settings } = open
  const part = (name: string, file: string, look: () => Promise<Seen>): HomePart => ({
    name,
    fix: `put back ${file} from a backup`,
    look: () => withModeHints(paths.home, look),
  })
  return [
    part('access book', paths.access, async () => {
      const { grants } = await readAccessBook(disk, paths, {
        host: hostKey.publicKey,
        owner: settings.owner,
      })
      return `reads, ${grants.length} grants`
    }),
    part('kept answers', paths.replies, async () => {
      await checkKeptReplies(disk, paths.replies)
      return 'read'
    }),
    part('start count', paths.generation, async () => {
      await checkGeneration(disk, paths.generation)
      return 'reads'
    }),
    part('task store', paths.tasks, async () => {
      const store = await openTaskStore(disk, clock, paths.tasks, { readOnly: true })
      try {
        const detail = `reads, ${(await store.list()).length} tasks`
        return { detail, tight: await tightStore(store, openArchive(disk, paths.tasks)) }
      } finally {
        await store.close()
      }
    }),
    part('command journal', `${paths.tasks}/commands.json`, async () => {
      const journal = await readJournal(disk, paths.tasks)
      // The journal comes before its lock, so a lock without a journal says that one was lost.
      if (journal === null && (await disk.identity(`${paths.tasks}/commands.lock`)) !== null) {
        throw new Refusal('unavailable', 'commands.json is missing from a home that had one')
      }
      if (journal === null) return 'none yet'
      return { detail: `reads, ${journal.entries.length} commands`, tight: tightJournal(journal.entries) }
    }),
  ]
}
