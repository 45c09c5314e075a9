import type { DeviceCommands } from '../commands/device-commands.ts'
import type { Entry } from '../commands/journal-entry.ts'
import { commandsPageBytesMax } from '../limits.ts'
import { Refusal } from '../protocol/refusal.ts'
import { utf8Bytes } from '../protocol/text.ts'
import type { Principal } from './access/principal.ts'
import type { AccessContext } from './operations/context.ts'
import { devicesNow, revoke } from './operations/devices.ts'
import { invite, uninvite } from './operations/invitations.ts'
import { editQueue } from './operations/task-command.ts'
import type { Operator } from './operator.ts'

const operator: Principal = { kind: 'operator' }

/** What an operator works on, wherever it runs. */
export interface OperatorContext {
  readonly access: AccessContext
  /** The parts of the task context that a queue edit needs, opened when first asked for. */
  commands(): Promise<DeviceCommands>
  /** The relays that an invitation may name, the first by default. */
  relays(): readonly string[]
  readonly owner: string
}

/**
 * The local operator's operations that are the same with and without a running service. The operator invites as the
 * host, and edits queues as the owner.
 */
export function localOperator(
  context: OperatorContext,
): Pick<Operator, 'invite' | 'uninvite' | 'devices' | 'revoke' | 'commands' | 'editQueue'> {
  const { access, owner } = context
  return {
    async invite({ rights, grant_expires_at, relay }) {
      const chosen = chooseRelay(context.relays(), relay)
      return await invite(access, operator, { rights, grant_expires_at, relay: chosen })
    },
    uninvite: (invitation) => uninvite(access, operator, invitation),
    devices: async () => devicesNow(access),
    revoke: (device) => revoke(access, operator, device),
    async commands({ task, from }) {
      const entries = (await context.commands()).entries(task ?? undefined)
      return pageFrom(entries, from)
    },
    async editQueue(task, edit) {
      const asking = { principal: operator, signer: owner, request: '', relay: '' } as const
      const commands = await context.commands()
      return await editQueue({ commands }, asking, task, edit)
    },
  }
}

/**
 * The relay that the operator names, or the first. Refuses `configuration` for one that is not served, or when there
 * is none.
 */
export function chooseRelay(relays: readonly string[], asked: string | null): string {
  if (asked !== null) {
    if (relays.includes(asked)) return asked
    throw new Refusal('configuration', 'this host does not serve that relay', {
      hint: 'drawbridge relay list',
    })
  }
  const [first] = relays
  if (first !== undefined) return first
  throw new Refusal('configuration', 'this host has no relay yet', { hint: 'drawbridge relay add wss://…' })
}

function pageFrom(all: readonly Entry[], from: number): { entries: Entry[]; next: number | null } {
  const entries: Entry[] = []
  let bytes = 0
  for (const entry of all.slice(from)) {
    bytes += utf8Bytes(JSON.stringify(entry)) + 1
    if (entries.length > 0 && bytes > commandsPageBytesMax) break
    entries.push(entry)
  }
  const next = from + entries.length
  return { entries, next: next < all.length ? next : null }
}
