import type { CommandRequest } from '../../src/commands/journal-entry.ts'
import { type Desk, openDesk, phone } from '../support/command-desk.ts'
import { beginTurn } from '../support/turns.ts'

export const task = 'task-1'
export const lease = { action: 'lease' } as const
export const list = { action: 'list' } as const
export const release = { action: 'release' } as const

/** A running turn with messages of the phone held behind it. */
export async function withQueue(...texts: string[]): Promise<{ desk: Desk; requests: CommandRequest[] }> {
  const desk = await openDesk(task)
  await beginTurn(desk.tasks, task)
  const requests = texts.map((text) => desk.mint(task, 'queue', text))
  for (const request of requests) await desk.commands.record(phone, request)
  return { desk, requests }
}

export function leaseOf(desk: Desk, device: string): { device: string; expires_at: number } {
  return { device, expires_at: desk.now() + 60 }
}

export const edit = (request: CommandRequest | undefined, text: string) =>
  ({ action: 'edit', command: request?.command ?? '', text }) as const
export const remove = (request: CommandRequest | undefined) =>
  ({ action: 'remove', command: request?.command ?? '' }) as const
export const sendNow = (request: CommandRequest | undefined) =>
  ({ action: 'send_now', command: request?.command ?? '' }) as const
export const order = (...requests: (CommandRequest | undefined)[]) => ({
  action: 'reorder' as const,
  commands: requests.map((request) => request?.command ?? ''),
})
