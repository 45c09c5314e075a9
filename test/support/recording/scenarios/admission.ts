import { id } from '../../access.ts'
import { keyOf } from '../fresh-host.ts'
import type { Scenario } from '../scene.ts'
import { began, everything, granted, list, ours, scenario } from './common.ts'

const nobody = { grant: null, epoch: null }

/** What a request earns because of who asks, and under which grant. */
export const admission: readonly Scenario[] = [
  scenario('grant-forbidden', 'A device asks under its own grant or not at all.', both(), async (scene) => {
    await scene.ask('phone', list, 'workspaces')
    await scene.ask('phone', list, 'refused forbidden', {
      changes: nobody,
      why: 'a request of a device that names no grant',
    })
    await scene.ask('phone', list, 'refused forbidden', {
      changes: { grant: id(0x99), epoch: 0 },
      why: 'a grant that the host does not know',
    })
    await scene.ask('phone', list, 'refused forbidden', {
      changes: { grant: scene.grant('tablet')?.grant },
      why: 'the grant of another device',
    })
  }),
  scenario(
    'grant-window',
    'A request lives within its grant; only its beginning may be a minute early.',
    {
      grants: [
        granted('phone', ours, { issued_at: began - 1_000, expires_at: began + 90 }),
        granted('tablet', ours, { issued_at: began + 61 }),
      ],
    },
    async (scene) => {
      await scene.ask('phone', list, 'workspaces')
      await scene.ask('tablet', list, 'refused forbidden', {
        why: 'a request dated over a minute before its grant, whose host set its clock back',
      })
      await scene.advance(31)
      await scene.ask('phone', list, 'refused forbidden', { why: 'a request that outlives its grant' })
      const expires_at = scene.now() + 59
      await scene.ask('phone', list, 'workspaces', { changes: { expires_at } })
      await scene.advance(59)
      await scene.ask('phone', list, 'refused expired', { why: 'a grant past its expiry' })
    },
  ),
  scenario(
    'grant-stale',
    'A grant counts only in the epoch that it was given in.',
    { ...both(), epochs: { [keyOf('tablet').publicKey]: 1 } },
    async (scene) => {
      await scene.ask('phone', list, 'refused stale', {
        changes: { epoch: 1 },
        why: 'another epoch than the grant has',
      })
      await scene.ask('tablet', list, 'refused stale', {
        why: "a grant whose epoch is not its device's any more",
      })
    },
  ),
  scenario(
    'grant-revoked',
    'Revocation ends every grant of a device at once, and its kept answers; so does a newer grant.',
    both(),
    async (scene) => {
      const asked = scene.request('phone', list)
      await scene.deliver(asked, 'workspaces')
      const { device } = scene.grant('phone') ?? { device: '' }
      await scene.take({ do: 'operator', call: 'revoke', with: { device }, gives: null })
      await scene.ask('phone', list, 'refused revoked', { why: 'a revoked grant' })
      await scene.again(asked, 'refused revoked', {
        why: 'a request that was answered, asked again after the revocation',
      })
      const op = await scene.invite()
      const older = scene.grant('tablet')
      await scene.redeem('tablet', op)
      await scene.ask('tablet', list, 'workspaces')
      await scene.ask('tablet', list, 'refused revoked', {
        changes: { grant: older?.grant },
        why: 'a grant that a newer one of the same device superseded',
      })
    },
  ),
  scenario(
    'request-id-taken',
    'A request ID belongs to the first event that used it.',
    both(),
    async (scene) => {
      const first = scene.request('phone', list)
      await scene.deliver(first, 'workspaces')
      const taken = { request: first.opened?.['request'] }
      await scene.ask('phone', { kind: 'chats.invite' }, 'refused conflict', {
        changes: taken,
        why: 'a request ID that another event of the same device used',
      })
      await scene.ask('tablet', list, 'refused conflict', {
        changes: taken,
        why: "a request ID that another device's event used",
      })
      const op = await scene.invite()
      const redeemed = scene.request('watch', op, nobody)
      await scene.deliver(redeemed, 'granted')
      await scene.ask('phone', list, 'refused conflict', {
        changes: { request: redeemed.opened?.['request'] },
        why: 'a request ID that a redemption used',
      })
      await scene.ask('tablet', op, 'refused conflict', {
        changes: { ...nobody, request: first.opened?.['request'] },
        why: 'a redemption under a request ID that was used',
      })
    },
  ),
  scenario(
    'rights',
    'Each operation needs its right, and no right implies another.',
    {
      grants: [
        granted('phone', ['review']),
        granted('tablet', ['observe', 'access_admin']),
        granted('watch', ['operate']),
      ],
    },
    async (scene) => {
      const task = id(0x77)
      const query = { workspace: 'site', cursor: null, limit: 1 }
      const why = (right: string) => `an operation that needs \`${right}\`, under a grant without it`
      await scene.ask('phone', { kind: 'task.list', query }, 'refused missing_right observe', {
        why: why('observe'),
      })
      const asked = scene.request('tablet', { kind: 'task.archive', task })
      await scene.deliver(asked, 'refused missing_right operate', { why: why('operate') })
      await scene.advance(5)
      await scene.again(asked, 'again', { why: 'a missing right is kept like an answer' })
      const terminal = { kind: 'terminal.open', cols: 80, rows: 24 }
      await scene.ask('watch', terminal, 'refused missing_right terminal', { why: why('terminal') })
      await scene.ask('tablet', { kind: 'device.list' }, 'refused missing_right access_read', {
        why: why('access_read'),
      })
      const revoke = { kind: 'device.revoke', device: keyOf('phone').publicKey }
      await scene.ask('watch', revoke, 'refused missing_right access_admin', { why: why('access_admin') })
    },
  ),
  scenario(
    'probes',
    'Whoever is served learns what is wrong with an operation; others hear nothing.',
    { grants: [granted('phone', everything)] },
    async (scene) => {
      await scene.invite()
      const unknown = { kind: 'task.teleport' }
      await scene.ask('phone', unknown, 'refused malformed', { why: 'an operation that nobody knows' })
      await scene.ask('phone', { ...list, more: true }, 'refused malformed', { why: 'an unknown field' })
      const cancel = { kind: 'task.cancel', task: id(1), revision: '1', reason: 'Enough.' }
      await scene.ask('phone', cancel, 'refused malformed', { why: 'a field of another type' })
      const reorder = { action: 'reorder', commands: [id(1), id(1)] }
      await scene.ask('phone', { kind: 'task.queue', task: id(1), edit: reorder }, 'refused malformed', {
        why: 'a repetition in a list',
      })
      const command = { ...scene.command(id(1), { emulate: true }) }
      await scene.ask('phone', command, 'refused malformed', { why: '`emulate` without `steer`' })
      const rights = { kind: 'invite.create', rights: ['operate', 'observe'], grant_expires_at: began + 900 }
      await scene.ask('phone', rights, 'refused malformed', { why: 'rights in another order' })
      const task = { title: 't'.repeat(201), prompt: 'P', workspace: 'site' }
      await scene.ask('phone', { kind: 'task.create', task }, 'refused bounds', {
        why: 'a text that is longer than its bound',
      })
      await scene.ask(
        'phone',
        { kind: 'task.cancel', task: id(1), revision: 1, reason: '' },
        'refused bounds',
        {
          why: 'a blank text',
        },
      )
      const query = { workspace: 'site', cursor: null, limit: 33 }
      await scene.ask('owner', { kind: 'task.list', query }, 'refused bounds', {
        why: 'a number out of its range, from the owner',
      })
      await scene.ask('owner', unknown, 'refused malformed', {
        why: 'an operation that nobody knows, from the owner',
      })
      await scene.ask('stranger', unknown, 'nothing bad_body', {
        why: 'an operation that nobody knows, from a key without a grant',
      })
    },
  ),
  scenario(
    'probe-integer',
    'An integer is written as one, and a name stands once in an object.',
    { grants: [granted('phone')] },
    async (scene) => {
      const cancel = { kind: 'task.cancel', task: id(1), revision: 1, reason: 'Enough.' }
      const written = (text: string) => (whole: string) => whole.replace('"revision":1', text)
      const asked = () => scene.request('phone', cancel)
      await scene.deliver(scene.retyped(asked(), written('"revision":1.0')), 'refused malformed', {
        why: 'an integer of the operation that is written otherwise, such as `1.0`',
      })
      await scene.deliver(
        scene.retyped(asked(), written('"revision":1,"revision":1')),
        'nothing bad_envelope',
        {
          why: 'a name that stands twice in an object',
        },
      )
    },
  ),
  scenario(
    'kept-reply',
    'The same event asked again gets the same signed bytes, at most every five seconds.',
    both(),
    async (scene) => {
      const task = { title: 'Once', prompt: 'Sort the entries.', workspace: 'site' }
      const asked = scene.request('phone', { kind: 'task.create', task })
      await scene.deliver(asked, 'dispatched', { copies: 2, why: 'delivered twice at once' })
      await scene.again(asked, 'nothing asked_again', { why: 'the same event again within five seconds' })
      await scene.advance(5)
      await scene.again(asked, 'again', { why: 'the same event after five seconds' })
      const other = { ...task, title: 'Another' }
      const changes = { request: asked.opened?.['request'] }
      await scene.advance(56)
      await scene.ask('phone', { kind: 'task.create', task }, 'dispatched', {
        changes,
        why: 'the request signed anew after it expired: the task that it made',
      })
      await scene.advance(61)
      await scene.ask('phone', { kind: 'task.create', task: other }, 'refused conflict', {
        changes,
        why: 'a create under the request ID of another create that has expired',
      })
    },
  ),
]

function both() {
  return { grants: [granted('phone'), granted('tablet')] }
}
