import type { AnsweringHost } from '../support/answering-host.ts'

/** The commands that a host got, in order. */
export function commandsHeard({ heard }: Pick<AnsweringHost, 'heard'>) {
  return heard.flatMap(({ request: { op } }) => (op.kind === 'task.command' ? [op.command] : []))
}
