import { nudgeMailbox } from '../../../../src/protocol/mailbox.ts'
import { keyOf } from '../fresh-host.ts'
import type { Scenario, Scene } from '../scene.ts'
import { began, granted, list, scenario } from './common.ts'

const create = {
  kind: 'task.create',
  task: { title: 'Once', prompt: 'Sort the entries.', workspace: 'site' },
} as const

/** What a host does at its relays, and what it says without being asked. */
export const relays: readonly Scenario[] = [
  scenario(
    'history-replayed',
    'After a restart the relay gives its history once more: nothing happens again, and who asks again is answered.',
    { grants: [granted('phone')] },
    async (scene) => {
      const created = scene.request('phone', create)
      const receipt = (await scene.deliver(created, 'dispatched'))['receipt'] as { reference: string }
      const sent = scene.request('phone', scene.command(receipt.reference))
      await scene.deliver(sent, 'dispatched')
      const stored = [created.event.id, sent.event.id]
      await scene.take({
        do: 'restart',
        stored,
        why: 'answered requests in the history that a relay gives after a restart',
        earns: 'nothing history',
      })
      const task = receipt.reference
      await scene.ask('phone', { kind: 'task.queue', task, edit: { action: 'list' } }, 'queue')
      const query = { workspace: 'site', cursor: null, limit: 8 }
      await scene.ask('phone', { kind: 'task.list', query }, 'tasks')
      await scene.again(created, 'again', { why: 'asked again after the restart' })
      await scene.advance(60)
      await scene.take({
        do: 'restart',
        stored,
        why: 'expired requests in the history that a relay gives',
        earns: 'nothing outside_window',
      })
      await scene.ask('phone', { kind: 'task.list', query }, 'tasks')
    },
  ),
  scenario(
    'renewal-overlap',
    'Before a connection ends the host opens the next one: what both deliver is answered once.',
    { grants: [granted('phone')], connection_seconds: 120 },
    async (scene) => {
      await scene.take({ do: 'hold' })
      await scene.advance(108)
      const asked = scene.request('phone', list)
      await scene.deliver(asked, 'workspaces', { connection: 1 })
      await scene.again(asked, 'nothing', { connection: 2, why: 'delivered by the other connection too' })
      await scene.take({ do: 'live', connection: 2, stored: [asked.event.id] })
      await scene.ask('phone', list, 'workspaces', { connection: 2 })
      await scene.advance(5)
      await scene.again(asked, 'again', { connection: 2, why: 'asked again on the new connection' })
    },
  ),
  scenario(
    'auth-in-mid-session',
    'A relay may ask who is there at any time: the host says so, asks for its events again, and loses none.',
    { grants: [granted('phone')] },
    async (scene) => {
      await scene.ask('phone', list, 'workspaces')
      await scene.take({ do: 'relay', connection: 1, says: ['AUTH', 'once-more'] })
      const asked = scene.request('phone', list)
      await scene.deliver(asked, 'workspaces')
      await scene.take({ do: 'closed', connection: 1, reason: 'auth-required: who is this?' })
      await scene.ask('phone', list, 'workspaces')
    },
  ),
  scenario(
    'auth-for-an-answer',
    'A relay that takes no event before it knows who is there is told, and gets the answer again.',
    { grants: [granted('phone')] },
    async (scene) => {
      await scene.take({ do: 'answers', says: 'auth-required: who is this?' })
      await scene.ask('phone', list, 'workspaces and again')
    },
  ),
  scenario(
    'answer-published-again',
    'An answer that the relay did not say yes to is published again while it is fresh: the same event.',
    { grants: [granted('phone')] },
    async (scene) => {
      await scene.take({ do: 'answers', says: false })
      await scene.ask('phone', list, 'workspaces')
      await scene.advance(10)
      await scene.take({ do: 'answers', says: true })
      await scene.advance(30)
    },
  ),
  scenario(
    'answer-missed',
    'A device whose answer no relay took is nudged once the relay takes events again, to send what it waits for.',
    { grants: [granted('phone')], records: ['nudge'] },
    async (scene) => {
      await scene.take({ do: 'answers', says: false })
      const created = scene.request('phone', create)
      await scene.deliver(created, 'dispatched')
      await scene.advance(61)
      await scene.take({ do: 'answers', says: true })
      await scene.advance(60)
      const again = { request: created.opened?.['request'] }
      await scene.ask('phone', create, 'dispatched', { changes: again })
    },
  ),
  scenario(
    'connection-cut',
    'A connection that is lost is dialled again after a pause; what was stored meanwhile is answered.',
    { grants: [granted('phone')] },
    async (scene) => {
      await scene.take({ do: 'cut', connection: 1 })
      const asked = scene.request('phone', list)
      await scene.take({ do: 'store', event: asked.event, opened: asked.opened ?? {} })
      await scene.advance(2)
      await scene.ask('phone', create, 'dispatched')
    },
  ),
  scenario(
    'nudge',
    'A nudge has the host show itself: each once, those of one device at most every half a minute.',
    { grants: [granted('phone')], records: ['presence'] },
    async (scene) => {
      const first = nudge(scene)
      await scene.deliver(first, 'presence')
      await scene.deliver(nudge(scene), 'nothing nudges_ignored', {
        why: 'a second nudge within half a minute',
      })
      await scene.advance(31)
      await scene.again(first, 'nothing nudges_ignored', { why: 'a nudge that was answered before' })
      await scene.deliver(nudge(scene), 'presence')
    },
  ),
  scenario(
    'presence',
    'The host shows itself at its start and every minute; its generation rises with each start.',
    { grants: [granted('phone')], records: ['presence'] },
    async (scene) => {
      await scene.advance(60)
      await scene.take({ do: 'restart', stored: [] })
    },
  ),
  scenario(
    'summaries',
    'Whoever may observe learns of each change of a task, at most once a second.',
    { grants: [granted('phone'), granted('tablet', ['observe'])], records: ['summary'] },
    async (scene) => {
      const task = await scene.create('phone')
      await scene.advance(1)
      await scene.take({ do: 'turn', task, turn: 'begins' })
      await scene.advance(1)
      await scene.take({ do: 'turn', task, turn: 'ends' })
      await scene.advance(1)
      await scene.ask('phone', { kind: 'task.archive', task }, 'dispatched')
      await scene.advance(1)
    },
  ),
  scenario(
    'grant-renewed',
    'A device that is heard in the last quarter of its grant is given the next; both count until the first expires.',
    {
      grants: [
        granted('phone', ['observe', 'operate'], { issued_at: began - 3_000, expires_at: began + 1_000 }),
      ],
      records: ['grant'],
    },
    async (scene) => {
      const replies = await scene.hear('phone', list, 'workspaces')
      const renewed = replies.map(({ opened }) => opened).find((body) => isGrant(body))
      await scene.ask('phone', list, 'workspaces', { why: 'the old grant still counts' })
      const { grant, epoch } = renewed as { grant: string; epoch: number }
      await scene.ask('phone', list, 'workspaces', {
        changes: { grant, epoch },
        why: 'the new one counts at once',
      })
      await scene.advance(300)
      await scene.ask('phone', list, 'workspaces', {
        why: 'heard under the old one five minutes later: told of the new one once more',
      })
    },
  ),
]

function isGrant(body: unknown): boolean {
  return (body as { v?: string }).v === 'openagents.host-grant.v1'
}

function nudge(scene: Scene) {
  const key = keyOf('phone').with(scene.host)
  const body = {
    v: 'openagents.host-nudge.v1',
    requires: [],
    host: scene.host,
    device: keyOf('phone').publicKey,
    issued_at: scene.now(),
    expires_at: scene.now() + 86_400,
  }
  return scene.seal('phone', nudgeMailbox(key), body, body.expires_at)
}
