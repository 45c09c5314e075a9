import { openHome } from '../bridge/home.ts'
import type { Entry } from '../commands/journal-entry.ts'
import { readJournal } from '../commands/journal-store.ts'
import { realDisk } from '../store/disk.ts'
import type { Door } from './door.ts'
import { type Answer, localTime, table } from './output.ts'

const textWide = 48

/** The journal's entries, of one task if one is named. The last complete journal; a malformed one refuses. */
export async function listCommands(door: Door, task: string | undefined): Promise<Answer> {
  const { paths } = await openHome(realDisk, door.home)
  const journal = await readJournal(realDisk, paths.tasks)
  const commands = (journal?.entries ?? []).filter(
    ({ request }) => task === undefined || request.task === task,
  )
  const leases = (journal?.leases ?? []).filter((lease) => task === undefined || lease.task === task)
  if (commands.length === 0) return { json: { commands, leases }, text: 'no commands\n' }
  const rows = commands.map((entry) => [
    localTime(entry.received_at),
    entry.request.task.slice(0, 12),
    entry.request.command.slice(0, 12),
    entry.request.kind,
    stateOf(entry),
    headOf(entry),
  ])
  return {
    json: { commands, leases },
    text: table(['received', 'task', 'command', 'kind', 'state', 'text'], rows),
  }
}

function stateOf({ state, promoted }: Entry): string {
  if (state.state !== 'done') return promoted === true ? `${state.state}, sent now` : state.state
  return 'reason' in state ? `${state.outcome} (${state.reason})` : state.outcome
}

function headOf({ request, edited }: Entry): string {
  const text = (edited ?? request.text).replace(/\s+/g, ' ').trim()
  const characters = Array.from(text)
  const head = characters.length > textWide ? `${characters.slice(0, textWide - 1).join('')}…` : text
  return edited === undefined ? head : `${head} (edited)`
}
