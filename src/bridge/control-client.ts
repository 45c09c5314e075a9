import * as z from 'zod'
import { entrySchema } from '../commands/journal-entry.ts'
import { controlRetryMs, controlTriesMax } from '../limits.ts'
import { deviceEntrySchema, queueViewSchema } from '../protocol/outcomes.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { pause } from '../seams/clock.ts'
import type { DiskLock } from '../seams/disk.ts'
import { callControl, notRunning } from './control-call.ts'
import { type DirectDeps, openDirectOperator } from './direct-operator.ts'
import { openHome } from './home.ts'
import { checkHome } from './home-check.ts'
import type { Operator, ServiceStatus } from './operator.ts'
import { homePaths } from './paths.ts'

/**
 * The local operator as a command has it: over the control socket when the service runs, directly on the files, under
 * the service's lock, when it does not. `status` refuses `not_running` then.
 *
 * Refuses as the operation does, and as `openHome` does.
 * @see spec/cli.md
 */
export function controlClient(deps: DirectDeps): Operator {
  const paths = homePaths(deps.home)

  /** Calls the service, or runs `direct` while holding its lock; a service that is just starting is waited for. */
  const either = async <T>(
    op: { op: string } & Record<string, unknown>,
    answer: z.ZodType<T>,
    direct: (operator: Operator) => Promise<T>,
  ): Promise<T> => {
    for (let tries = 1; ; tries += 1) {
      const answered = await called(op, answer)
      if (answered !== null) return answered.value
      const lock = await serviceLock()
      if (lock !== null) return await holding(lock, direct)
      if (tries >= controlTriesMax)
        throw new Refusal('timeout', 'a service holds this home and does not listen')
      await pause(deps.clock, controlRetryMs)
    }
  }

  /** The service's answer, or null when none runs. */
  const called = async <T>(
    op: { op: string } & Record<string, unknown>,
    answer: z.ZodType<T>,
  ): Promise<{ value: T } | null> => {
    await checkHome(deps.disk, deps.home)
    try {
      const { ok: _ok, ...reply } = await callControl(deps, paths, op)
      const parsed = answer.safeParse(reply)
      if (parsed.success) return { value: parsed.data }
      throw new Refusal('io', 'the service answered something else')
    } catch (error) {
      if (isRefusal(error, 'not_running')) return null
      throw error
    }
  }

  const serviceLock = async (): Promise<DiskLock | null> => {
    // Checks the home, and makes `run/`, before a lock file is made in it.
    await openHome(deps.disk, deps.home)
    try {
      return await deps.disk.lock(paths.serveLock, 0, { create: true })
    } catch (error) {
      if (isRefusal(error, 'store_busy')) return null
      throw error
    }
  }

  const holding = async <T>(lock: DiskLock, direct: (operator: Operator) => Promise<T>): Promise<T> => {
    try {
      const { operator, close } = await openDirectOperator(deps)
      try {
        return await direct(operator)
      } finally {
        await close()
      }
    } finally {
      await lock.release()
    }
  }

  return {
    invite: ({ rights, grant_expires_at, relay }) =>
      either({ op: 'invite', rights, grant_expires_at, relay }, madeInvitation, (operator) =>
        operator.invite({ rights, grant_expires_at, relay }),
      ),
    async uninvite(invitation) {
      await either(
        { op: 'invite.cancel', invitation },
        z.object({ invitation: z.string() }),
        async (operator) => {
          await operator.uninvite(invitation)
          return { invitation }
        },
      )
    },
    async requestEnrollment({ rights, relay }) {
      const answered = await called({ op: 'enroll.request', rights, relay }, madeEnrollment)
      if (answered !== null) return answered.value
      throw notRunning()
    },
    async devices() {
      const answer = z.strictObject({ devices: z.array(deviceEntrySchema) })
      const { devices } = await either({ op: 'devices' }, answer, async (operator) => ({
        devices: await operator.devices(),
      }))
      return devices
    },
    revoke: (device) => either({ op: 'revoke', device }, revocation, (operator) => operator.revoke(device)),
    commands: ({ task, from }) =>
      either({ op: 'commands.list', task, from }, commandsPage, async (operator) => {
        const { entries, next } = await operator.commands({ task, from })
        return { entries: [...entries], next }
      }),
    async editQueue(task, edit) {
      const answer = z.strictObject({ queue: localQueue })
      const { queue } = await either({ op: 'queue.edit', task, edit }, answer, async (operator) => ({
        queue: await operator.editQueue(task, edit),
      }))
      return queue
    },
    async taskChanged(task) {
      await called({ op: 'task.changed', task }, z.unknown())
    },
    reload: () =>
      either({ op: 'reload' }, reloaded, async (operator) => {
        const { relays, workspaces } = await operator.reload()
        return { relays: [...relays], workspaces: [...workspaces] }
      }),
    async status() {
      const answered = await called({ op: 'status' }, z.strictObject({ status: statusShape }))
      if (answered !== null) return answered.value.status
      throw notRunning()
    },
  }
}

const madeInvitation = z.strictObject({ invitation: z.string(), code: z.string(), expires_at: z.int() })
const madeEnrollment = z.strictObject({
  host: z.string(),
  enrollment: z.string(),
  code: z.string(),
  digest: z.string(),
  relay: z.string(),
  expires_at: z.int(),
  devices: z.int(),
})
const revocation = z.strictObject({ device: z.string(), epoch: z.int(), grants: z.array(z.string()) })
const commandsPage = z.strictObject({ entries: z.array(entrySchema), next: z.int().nullable() })
const reloaded = z.strictObject({
  relays: z.array(z.string()),
  workspaces: z.array(z.strictObject({ label: z.string(), path: z.string() })),
})
/** Local tasks have identifiers that no device sees. */
const localQueue = queueViewSchema.extend({ task: z.string() })
/** The service is this same program; its status is taken as it comes. */
const statusShape = z.custom<ServiceStatus>((value) => typeof value === 'object' && value !== null)
