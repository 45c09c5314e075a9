import { presenceMailbox } from '../../../../src/protocol/mailbox.ts'
import { id } from '../../access.ts'
import { keyOf } from '../fresh-host.ts'
import type { Scenario, Sealed } from '../scene.ts'
import { granted, list, otherRelay, primaryRelay, scenario } from './common.ts'

const grants = [granted('phone')]
const nobody = { grant: null, epoch: null }

/** What earns nothing at all. */
export const silences: readonly Scenario[] = [
  scenario(
    'silence-event',
    'An event that is not whole, or not for this host, earns nothing; a forged copy does not hide the genuine one.',
    { grants },
    async (scene) => {
      const asked = scene.request('phone', list)
      const forged = { ...asked, event: { ...asked.event, sig: id(1).repeat(2) } }
      await scene.deliver(forged, 'nothing bad_signature', { why: "a signature that is not the author's" })
      const moved = { ...asked, event: { ...asked.event, created_at: asked.event.created_at + 1 } }
      await scene.deliver(moved, 'nothing bad_signature', { why: 'an id that is not the hash of the event' })
      const kind = resigned(asked, { kind: 4 })
      await scene.deliver(kind, 'nothing not_our_kind', { why: 'another kind than 3188' })
      const tags = asked.event.tags.map((tag) => (tag[0] === 'p' ? ['p', keyOf('tablet').publicKey] : tag))
      await scene.deliver(resigned(asked, { tags }), 'nothing not_for_us', { why: 'another recipient' })
      const more = [...asked.event.tags, ['e', id(1)]]
      await scene.deliver(resigned(asked, { tags: more }), 'nothing not_for_us', { why: 'a fourth tag' })
      await scene.take({
        do: 'deliver',
        from: 'phone',
        why: 'content of more than 400 KiB',
        earns: 'nothing oversized',
        content_chars: 409_601,
      })
      await scene.deliver(asked, 'workspaces')
    },
  ),
  scenario(
    'silence-envelope',
    'What does not open as an envelope earns nothing.',
    { grants },
    async (scene) => {
      const asked = scene.request('phone', list)
      const body = JSON.stringify(asked.opened)
      await scene.deliver(scene.raw('phone', id(2), '{"v":'), 'nothing bad_envelope', {
        why: 'content that is no JSON',
      })
      await scene.deliver(scene.raw('phone', id(3), body), 'nothing bad_envelope', {
        why: 'a body without its envelope',
      })
      await scene.deliver(scene.raw('phone', id(4), '{"v":1,"v":1}'), 'nothing bad_envelope', {
        why: 'a name that stands twice in an object',
      })
      const content = `${asked.event.content.slice(0, -4)}AAAA`
      await scene.deliver(resigned(asked, { content }), 'nothing bad_envelope', {
        why: 'content whose MAC does not hold',
      })
      const created_at = asked.event.created_at + 1
      await scene.deliver(resigned(asked, { created_at }), 'nothing bad_envelope', {
        why: 'an event dated otherwise than its envelope',
      })
    },
  ),
  scenario(
    'silence-body',
    'A body that is wrong outside its operation, or that no device sends, earns nothing.',
    { grants },
    async (scene) => {
      await scene.ask('phone', list, 'nothing bad_body', {
        changes: { requires: ['streams'] },
        why: 'a request that requires a feature',
      })
      await scene.ask('phone', list, 'nothing bad_body', {
        changes: { more: true },
        why: 'a request with an unknown field',
      })
      await scene.ask('phone', list, 'nothing bad_body', {
        changes: { epoch: null },
        why: 'a grant without an epoch',
      })
      await scene.ask('phone', list, 'nothing bad_body', {
        changes: { expires_at: scene.now() + 61 },
        why: 'a request that lives longer than 60 seconds',
      })
      const mailbox = presenceMailbox(keyOf('phone').with(scene.host))
      const presence = {
        v: 'openagents.host-presence.v1',
        requires: [],
        host: scene.host,
        owner: keyOf('owner').publicKey,
        generation: 9,
        protocol: 1,
        compatibility: { min: 1, max: 1 },
        capabilities: [],
        observed_at: scene.now(),
        telemetry: null,
      }
      const event = scene.seal('phone', mailbox, presence, scene.now() + 300, scene.now())
      await scene.deliver(event, 'nothing other_schema', { why: 'a body that only hosts send' })
    },
  ),
  scenario(
    'silence-address',
    'A request is for one host, over one relay, in its own mailbox.',
    { grants, relays: [primaryRelay, otherRelay] },
    async (scene) => {
      await scene.ask('phone', list, 'nothing other_host', {
        changes: { host: keyOf('tablet').publicKey },
        why: 'a request that names another host',
      })
      await scene.ask('phone', list, 'nothing other_relay', {
        relay: otherRelay,
        why: 'a request that arrives over another relay than it names',
      })
      const asked = scene.request('phone', list)
      const until = scene.now() + 60
      const astray = scene.seal('phone', id(0x55), asked.opened ?? {}, until)
      await scene.deliver(astray, 'nothing other_mailbox', {
        why: 'a mailbox that is not the ID of the request',
      })
      await scene.ask('phone', list, 'workspaces', { changes: { relay: otherRelay }, relay: otherRelay })
    },
  ),
  scenario(
    'silence-window',
    "A request counts within its window by the host's clock, and may be dated up to a minute ahead.",
    { grants },
    async (scene) => {
      const now = scene.now()
      await scene.ask('phone', list, 'nothing outside_window', {
        changes: { issued_at: now - 60, expires_at: now },
        why: 'a request that has expired',
      })
      await scene.ask('phone', list, 'nothing outside_window', {
        changes: { issued_at: now + 61, expires_at: now + 121 },
        why: 'a request dated more than a minute ahead',
      })
      await scene.ask('phone', list, 'nothing outside_window', {
        changes: { issued_at: now + 63_072_000, expires_at: now + 63_072_060 },
        why: 'a request dated two years ahead, which moves nothing',
      })
      await scene.ask('phone', list, 'workspaces', {
        changes: { issued_at: now + 60, expires_at: now + 120 },
      })
      await scene.ask('phone', list, 'workspaces', {
        changes: { issued_at: now - 59, expires_at: now + 1 },
      })
    },
  ),
  scenario('silence-host-key', 'The host does not answer itself.', { grants }, async (scene) => {
    await scene.ask('host', list, 'nothing from_host', {
      changes: nobody,
      why: 'a request that the host key signed',
    })
  }),
  scenario(
    'silence-capability',
    'A wrong or unknown capability earns nothing, so that nobody learns which invitations there are.',
    {},
    async (scene) => {
      const op = await scene.invite()
      await scene.ask('phone', { ...op, capability: id(0xdd) }, 'nothing unknown_capability', {
        changes: nobody,
        why: 'a wrong capability',
      })
      await scene.ask('phone', { ...op, invitation: id(0xee) }, 'nothing unknown_capability', {
        changes: nobody,
        why: 'an unknown invitation',
      })
      await scene.ask('phone', op, 'granted', { changes: nobody })
      await scene.flood('phone', op, { times: 31, earns: '31 granted', changes: nobody })
      await scene.ask('phone', op, 'nothing invitation_replies', {
        changes: nobody,
        why: 'a redemption past the 32 answers of one invitation',
      })
    },
  ),
  scenario(
    'strangers',
    'Keys without a grant are heard while an invitation or an enrollment is open: little, and refused once a second.',
    { grants },
    async (scene) => {
      await scene.ask('stranger', list, 'nothing stranger_closed', {
        changes: nobody,
        why: 'a key without a grant, while nothing is open',
      })
      await scene.invite()
      await scene.ask('stranger', list, 'refused forbidden', {
        changes: nobody,
        why: 'a key without a grant, while an invitation is open',
      })
      await scene.ask('stranger', list, 'nothing stranger_refusals', {
        changes: nobody,
        why: 'a second event of a key without a grant within the same second',
      })
      const prompt = 'Sort the entries, please. '.repeat(120)
      const task = { title: 'Long', prompt, workspace: 'site' }
      await scene.ask('stranger', { kind: 'task.create', task }, 'nothing stranger_size', {
        changes: nobody,
        why: 'content of more than 4 KiB from a key without a grant',
      })
      await scene.advance(1)
      await scene.flood('stranger', list, {
        times: 21,
        earns: '1 refused forbidden, nothing stranger_refusals stranger_rate',
        changes: nobody,
        why: 'more than 20 events a second from keys without a grant',
      })
    },
  ),
]

/** The event of a request with other fields, signed anew, that nobody can open any more. */
function resigned({ from, event }: Sealed, changes: object): Sealed {
  const { kind, created_at, tags, content } = event
  return {
    from,
    event: keyOf(from).signer.sign({ kind, created_at, tags, content, ...changes }),
    opened: null,
  }
}
