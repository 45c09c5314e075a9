import type { CommandsPage } from '../bridge/operator.ts'
import type { Entry } from '../commands/journal-entry.ts'
import type { Door } from './door.ts'
import { knownTask } from './known-task.ts'
import { operatorOf } from './operator.ts'
import { type Answer, localTime, table } from './output.ts'

const textWide = 48

/**
 * The journal's entries, of one task if one is named, as the service knows them; the file alone may lag behind, since
 * that a command is done is written with the next change. Refuses `unavailable` for a journal that does not read.
 */
export async function listCommands(door: Door, given: string | undefined): Promise<Answer> {
  const operator = operatorOf(door)
  const task = given === undefined ? undefined : await knownTask(door, undefined, given)
  const commands: Entry[] = []
  for (let from: number | null = 0; from !== null; ) {
    const page: CommandsPage = await operator.commands({ task: task ?? null, from })
    commands.push(...page.entries)
    from = page.next
  }
  if (commands.length === 0) return { json: { commands }, text: 'no commands\n' }
  const rows = commands.map(commandCells)
  return {
    json: { commands },
    text: table(['received', 'task', 'command', 'kind', 'state', 'text'], rows),
  }
}

/** An entry for a person: when it was received, task, command, kind, state, and the head of its text. */
export function commandCells(entry: Entry): string[] {
  const { task, command, kind } = entry.request
  const ids = [task.slice(0, 12), command.slice(0, 12)]
  return [localTime(entry.received_at), ...ids, kind, stateOf(entry), headOf(entry)]
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
