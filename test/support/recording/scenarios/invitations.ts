import type { Scenario } from '../scene.ts'
import {
  everything,
  granted,
  list,
  otherRelay,
  ours,
  primaryRelay,
  redemptionOf,
  scenario,
} from './common.ts'

const unbound = { grant: null, epoch: null }

/** How an invitation is redeemed, and what a redemption may earn instead. */
export const invitations: readonly Scenario[] = [
  scenario(
    'worked-exchange',
    'An invitation is redeemed, a task is created, given one more message, and read.',
    {},
    async (scene) => {
      const op = await scene.invite()
      await scene.redeem('phone', op)
      await scene.advance(5)
      const task = await scene.create('phone')
      await scene.advance(5)
      await scene.ask('phone', scene.command(task), 'dispatched')
      await scene.ask('phone', { kind: 'task.queue', task, edit: { action: 'list' } }, 'queue')
      const query = { workspace: 'site', task, revision: null, cursor: null, limit: 8 }
      await scene.ask('phone', { kind: 'task.read', query }, 'task')
    },
  ),
  scenario(
    'invitation-redeemed',
    'The same device redeems as often as it likes and gets the grant it has; no other device gets one.',
    { records: ['presence'] },
    async (scene) => {
      const op = await scene.invite()
      const first = scene.request('phone', op, unbound)
      await scene.deliver(first, 'granted')
      await scene.advance(5)
      await scene.again(first, 'again', { why: 'the same event, delivered once more' })
      await scene.ask('phone', op, 'granted', { changes: unbound, why: 'asked anew by the same device' })
      await scene.ask('tablet', op, 'refused forbidden', {
        changes: unbound,
        why: 'another device redeemed this invitation',
      })
    },
  ),
  scenario(
    'invitation-keys',
    'An invitation is neither for the owner nor for the host itself.',
    {},
    async (scene) => {
      const op = await scene.invite()
      await scene.ask('owner', op, 'refused forbidden', {
        changes: unbound,
        why: 'the owner redeems, who needs no grant',
      })
      await scene.ask('host', op, 'refused forbidden', {
        changes: unbound,
        why: 'the host key redeems, with the right capability',
      })
    },
  ),
  scenario('invitation-cancelled', 'A cancelled invitation gives nothing.', {}, async (scene) => {
    const op = await scene.invite()
    const { invitation } = op
    await scene.take({ do: 'operator', call: 'uninvite', with: { invitation }, gives: null })
    await scene.ask('phone', op, 'refused revoked', {
      changes: unbound,
      why: 'the invitation was cancelled',
    })
  }),
  scenario(
    'invitation-expired',
    'An invitation lives for 300 seconds, and is remembered for a minute longer.',
    {},
    async (scene) => {
      const op = await scene.invite()
      await scene.advance(290)
      await scene.ask('phone', op, 'refused forbidden', {
        changes: { ...unbound, issued_at: scene.now() + 11, expires_at: scene.now() + 60 },
        why: 'a redemption that is dated after the invitation',
      })
      await scene.advance(10)
      await scene.ask('phone', op, 'refused expired', { changes: unbound, why: 'the invitation expired' })
      await scene.advance(60)
      await scene.ask('phone', op, 'nothing stranger_closed', {
        changes: unbound,
        why: 'a key that the host does not know, while nothing is open',
      })
    },
  ),
  scenario(
    'invitation-other-relay',
    'An invitation is redeemed over the relay that it names.',
    { relays: [primaryRelay, otherRelay] },
    async (scene) => {
      const op = await scene.invite()
      await scene.ask('phone', op, 'refused forbidden', {
        changes: { ...unbound, relay: otherRelay },
        relay: otherRelay,
        why: 'a redemption over another relay than the invitation names',
      })
    },
  ),
  scenario(
    'invitation-issuer-gone',
    'What a device delegated is worth nothing once its own grant is.',
    { grants: [granted('phone', everything)] },
    async (scene) => {
      const grant_expires_at = scene.now() + 86_400
      const outcome = await scene.ask(
        'phone',
        { kind: 'invite.create', rights: ours, grant_expires_at },
        'invitation',
      )
      const op = redemptionOf(outcome)
      const device = scene.grant('phone')?.device ?? ''
      await scene.take({ do: 'operator', call: 'revoke', with: { device }, gives: null })
      await scene.ask('tablet', op, 'refused revoked', {
        changes: unbound,
        why: 'the device that invited holds its grant no more',
      })
    },
  ),
  scenario(
    'invitation-device-revoked',
    'A revoked device does not get its grant back from the invitation that gave it.',
    {},
    async (scene) => {
      const op = await scene.invite()
      const { device } = await scene.redeem('phone', op)
      await scene.take({ do: 'operator', call: 'revoke', with: { device }, gives: null })
      await scene.ask('phone', op, 'refused revoked', {
        changes: unbound,
        why: 'the device was revoked after it redeemed',
      })
      await scene.ask('phone', list, 'refused revoked', { why: 'a grant that was revoked' })
    },
  ),
]
