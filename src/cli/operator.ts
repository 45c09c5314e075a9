import { callControl } from '../bridge/control-call.ts'
import { openDirectOperator } from '../bridge/direct-operator.ts'
import type { Operator } from '../bridge/operator.ts'
import { type HomePaths, homePaths } from '../bridge/paths.ts'
import { takeServiceLock } from '../bridge/service-lock.ts'
import { isRefusal } from '../protocol/refusal.ts'
import { realDisk } from '../store/disk.ts'
import { homeDeps } from './deps.ts'
import type { Door } from './door.ts'

/** What the local operator does through this door. */
type Asked = Pick<Operator, 'invite' | 'uninvite' | 'devices' | 'revoke' | 'editQueue'>

/**
 * Hands the operator's operations to `use`: those of the running service, over its control socket, or the same ones
 * directly on the files when none runs, with the service's lock held meanwhile.
 */
export async function withOperator<T>(door: Door, use: (operator: Asked) => Promise<T>): Promise<T> {
  const paths = homePaths(door.home)
  try {
    return await use(remoteOperator(door, paths))
  } catch (error) {
    if (!isRefusal(error, 'not_running')) throw error
  }
  const lock =
    (await realDisk.identity(paths.run)) === null ? null : await takeServiceLock(realDisk, paths, process.pid)
  try {
    const { operator, close } = await openDirectOperator(homeDeps(door))
    try {
      return await use(operator)
    } finally {
      await close()
    }
  } finally {
    if (lock !== null) await realDisk.remove(paths.pid)
    await lock?.release()
  }
}

/** Tells a running service that settings changed; without one the next start reads them. */
export async function reloadService(door: Door): Promise<void> {
  try {
    await callControl({ disk: realDisk, clock: door.clock }, homePaths(door.home), { op: 'reload' })
  } catch (error) {
    if (!isRefusal(error, 'not_running')) throw error
  }
}

/** The service's own words come back as they are: it is the same program, behind a private socket and a token. */
function remoteOperator(door: Door, paths: HomePaths): Asked {
  const call = async (op: string, fields: Record<string, unknown> = {}) => {
    const { ok: _ok, ...said } = await callControl({ disk: realDisk, clock: door.clock }, paths, {
      op,
      ...fields,
    })
    return said
  }
  return {
    invite: async (terms) =>
      (await call('invite', { ...terms })) as unknown as Awaited<ReturnType<Asked['invite']>>,
    uninvite: async (invitation) => void (await call('invite.cancel', { invitation })),
    devices: async () => (await call('devices'))['devices'] as Awaited<ReturnType<Asked['devices']>>,
    revoke: async (device) => (await call('revoke', { device })) as Awaited<ReturnType<Asked['revoke']>>,
    editQueue: async (task, edit) =>
      (await call('queue.edit', { task, edit }))['queue'] as Awaited<ReturnType<Asked['editQueue']>>,
  }
}
