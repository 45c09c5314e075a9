import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { type BridgeStage, ownerKey } from '../support/bridge-stage.ts'
import {
  type Body,
  type ForeignDevice,
  type ForeignDial,
  type ForeignKey,
  foreignDevice,
} from './foreign-device.ts'

/**
 * A whole device's life on our embedded relay with our host: it proves who it is, listens, redeems an invitation,
 * makes a task, sends a command to it, reads what came of both, hears where its rights end, and hears presence.
 */
export async function liveAsDevice(stage: BridgeStage, key: ForeignKey, dial: ForeignDial): Promise<void> {
  const { host, relay } = stage
  const device = await foreignDevice({ key, host, relay: relay.url, dial })
  try {
    const grant = await device.redeem(await stage.invite(['observe', 'operate']))
    expect(grant).toMatchObject({ host, owner: ownerKey.publicKey, device: key.publicKey, epoch: 0 })
    expect(await device.presence()).toMatchObject({ host, owner: ownerKey.publicKey, generation: 1 })
    await work(device)
    await endOfRights(device)
  } finally {
    await device.close()
  }
}

async function work(device: ForeignDevice): Promise<void> {
  expect(await ok(device, { kind: 'workspace.list' })).toEqual({ kind: 'workspaces', workspaces: ['site'] })
  const intent = { title: 'Greet 你好 🌍', prompt: 'Say "hello" to é and \u2028.\n', workspace: 'site' }
  const created = await ok(device, { kind: 'task.create', task: intent })
  const task = String(created['receipt'].reference)
  expect(created).toEqual({ kind: 'dispatched', receipt: { operation: 'task.create', reference: task } })

  const command = {
    command: randomBytes(32).toString('hex'),
    task,
    action: 'queue',
    based_on: 1,
    text: 'And then say goodbye 👋.',
    emulate: false,
    issued_at: Math.floor(Date.now() / 1000),
  }
  const answers = await device.askTwice({ kind: 'task.command', command })
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1)

  const queue = (await ok(device, { kind: 'task.queue', task, edit: { action: 'list' } }))['queue']
  const { command: id, text } = command
  expect(queue.items).toEqual([{ command: id, device: device.key.publicKey, text, priority: false }])

  const query = { workspace: 'site', task, revision: null, cursor: null, limit: 8 }
  const read = (await ok(device, { kind: 'task.read', query }))['task']
  expect(read).toMatchObject({ task, title: intent.title, workspace: 'site', status: 'queued' })
  const list = { workspace: 'site', cursor: null, limit: 32 }
  expect((await ok(device, { kind: 'task.list', query: list }))['tasks'].items).toHaveLength(1)
}

async function endOfRights(device: ForeignDevice): Promise<void> {
  const lacking = await device.ask({ kind: 'device.list' })
  expect(lacking).toEqual({ status: 'refused', code: 'missing_right', missing: 'access_read' })
  const unknown = await device.ask({ kind: 'task.levitate' })
  expect(unknown).toEqual({ status: 'refused', code: 'malformed', missing: null })
}

async function ok(device: ForeignDevice, op: Body): Promise<Body> {
  const result = await device.ask(op)
  expect(result).toMatchObject({ status: 'ok' })
  return result['outcome']
}

/** A secret key of 64 hex that follows from a name. */
export function secretOf(name: string): string {
  return createHash('sha256').update(name).digest('hex')
}
