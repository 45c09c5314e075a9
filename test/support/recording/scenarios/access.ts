import { id } from '../../access.ts'
import { keyOf } from '../fresh-host.ts'
import type { Scenario } from '../scene.ts'
import { began, everything, granted, ours, scenario } from './common.ts'

const nobody = { grant: null, epoch: null }
const admin = { grants: [granted('phone', ['observe', 'operate', 'access_read', 'access_admin'])] }

/** The operations on who may do what, and what each may be refused for. */
export const access: readonly Scenario[] = [
  scenario('invite-create', 'A device invites to no more than it has.', admin, async (scene) => {
    const op = { kind: 'invite.create', rights: ours, grant_expires_at: scene.now() + 86_400 }
    await scene.ask('phone', op, 'invitation')
    await scene.ask('phone', { ...op, rights: ['observe', 'review'] }, 'refused missing_right review', {
      why: '`invite.create`: a right that the device itself does not hold',
    })
    await scene.ask('phone', { ...op, grant_expires_at: scene.now() + 300 }, 'refused forbidden', {
      why: '`invite.create`: a grant that would not outlive its invitation',
    })
    await scene.ask('phone', { ...op, grant_expires_at: scene.now() + 864_001 }, 'refused forbidden', {
      why: "`invite.create`: a grant that would outlive the device's own",
    })
    await scene.ask('owner', { ...op, grant_expires_at: scene.now() + 2_592_001 }, 'refused forbidden', {
      why: '`invite.create`: a grant of more than 30 days',
    })
    await scene.ask('owner', { ...op, rights: everything }, 'invitation')
  }),
  scenario('invitations-full', 'At most 64 invitations are kept.', admin, async (scene) => {
    const terms = { rights: ours, grant_expires_at: scene.now() + 86_400 }
    await scene.take({ do: 'operator', call: 'invite', with: terms, times: 64, gives: null })
    await scene.ask('phone', { kind: 'invite.create', ...terms }, 'refused bounds', {
      why: '`invite.create`: 64 invitations are kept already',
    })
  }),
  scenario('invite-cancel', 'An invitation can be cancelled until it is redeemed.', admin, async (scene) => {
    const op = { kind: 'invite.create', rights: ours, grant_expires_at: scene.now() + 86_400 }
    const { invitation } = await scene.ask('phone', op, 'invitation')
    await scene.ask('phone', { kind: 'invite.cancel', invitation }, 'cancelled')
    await scene.ask('phone', { kind: 'invite.cancel', invitation }, 'cancelled')
    await scene.ask('phone', { kind: 'invite.cancel', invitation: id(0xee) }, 'refused forbidden', {
      why: '`invite.cancel`: an invitation that the host does not have',
    })
    const redeemed = await scene.invite()
    await scene.redeem('tablet', redeemed)
    await scene.ask('phone', { kind: 'invite.cancel', invitation: redeemed.invitation }, 'refused conflict', {
      why: '`invite.cancel`: an invitation that was redeemed',
    })
  }),
  scenario('devices', 'Devices are listed, and revoked for good.', admin, async (scene) => {
    const op = await scene.invite()
    await scene.redeem('tablet', op)
    await scene.ask('phone', { kind: 'device.list' }, 'devices')
    const device = keyOf('tablet').publicKey
    await scene.ask('phone', { kind: 'device.revoke', device }, 'revoked')
    await scene.ask(
      'phone',
      { kind: 'device.revoke', device: keyOf('watch').publicKey },
      'refused forbidden',
      {
        why: '`device.revoke`: a device that was never granted anything',
      },
    )
    await scene.ask('phone', { kind: 'device.list' }, 'devices')
  }),
  scenario(
    'grants-full',
    'A host serves 128 grants; what does not fit an answer is refused.',
    { ...admin, others: 127 },
    async (scene) => {
      const op = await scene.invite()
      await scene.ask('tablet', op, 'refused bounds', {
        changes: nobody,
        why: '`enroll.redeem`: every grant that the host can keep is alive',
      })
      await scene.ask('phone', { kind: 'device.list' }, 'refused bounds', {
        why: '`device.list`: the living devices do not fit one answer',
      })
    },
  ),
]

/** Reverse enrollment: the host asks, and somebody who may lets a device in. */
export const enrollments: readonly Scenario[] = [
  scenario(
    'enrollment-approved',
    'The host asks for a device to be let in; the owner reads the code there, and approves.',
    { records: ['enrollment', 'grant'] },
    async (scene) => {
      const approval = await scene.enroll()
      const op = { ...approval, device: keyOf('tablet').publicKey }
      await scene.ask('owner', { ...op, code: '0000-0000' }, 'refused wrong_code', {
        why: '`enroll.approve`: another code than the host shows',
      })
      await scene.ask('owner', { ...op, code: loosely(op.code) }, 'granted')
      await scene.ask('owner', op, 'granted', {
        why: 'approved once more for the same device: the same grant',
      })
      await scene.ask('owner', { ...op, device: keyOf('watch').publicKey }, 'refused conflict', {
        why: '`enroll.approve`: another device was approved',
      })
      const { enrollment, request_digest } = op
      await scene.ask('owner', { kind: 'enroll.deny', enrollment, request_digest }, 'refused conflict', {
        why: '`enroll.deny`: a device was approved',
      })
    },
  ),
  scenario('enrollment-refused', 'An approval gives what the host asked for, or less.', {}, async (scene) => {
    const op = { ...(await scene.enroll()), device: keyOf('tablet').publicKey }
    await scene.ask('owner', { ...op, device: keyOf('owner').publicKey }, 'refused forbidden', {
      why: '`enroll.approve`: the device would be the owner',
    })
    await scene.ask('owner', { ...op, device: scene.host }, 'refused forbidden', {
      why: '`enroll.approve`: the device would be the host',
    })
    await scene.ask('owner', { ...op, rights: everything }, 'refused forbidden', {
      why: '`enroll.approve`: more rights than the request names',
    })
    await scene.ask('owner', { ...op, grant_expires_at: scene.now() }, 'refused forbidden', {
      why: '`enroll.approve`: a grant that has expired',
    })
    await scene.ask('owner', { ...op, grant_expires_at: scene.now() + 2_592_001 }, 'refused forbidden', {
      why: '`enroll.approve`: a grant of more than 30 days',
    })
    await scene.ask('owner', { ...op, request_digest: `sha256:${id(0xdd)}` }, 'refused forbidden', {
      why: '`enroll.approve`: a request that the host never made',
    })
  }),
  scenario(
    'enrollment-by-device',
    'A device approves with its own rights, and until its own expiry.',
    {
      grants: [
        granted('phone', ['observe', 'access_admin']),
        granted('tablet', ours),
        granted('laptop', everything, { expires_at: began + 500_000 }),
      ],
      records: ['enrollment'],
    },
    async (scene) => {
      const approval = await scene.enroll()
      const op = { ...approval, device: keyOf('watch').publicKey }
      await scene.ask('tablet', op, 'refused missing_right access_admin', {
        why: '`enroll.approve`: who approves may not administer access',
      })
      await scene.ask('phone', op, 'refused missing_right operate', {
        why: '`enroll.approve`: a right that the approving device does not hold',
      })
      await scene.ask('laptop', { ...op, grant_expires_at: began + 500_001 }, 'refused forbidden', {
        why: "`enroll.approve`: a grant that would outlive the approving device's own",
      })
      await scene.ask('phone', { ...op, rights: ['observe'] }, 'granted')
      const device = keyOf('watch').publicKey
      await scene.take({ do: 'operator', call: 'revoke', with: { device }, gives: null })
      await scene.ask('phone', { ...op, rights: ['observe'] }, 'refused revoked', {
        why: '`enroll.approve`: the device that was approved is revoked',
      })
    },
  ),
  scenario(
    'enrollment-denied',
    'An enrollment that was denied stays so; of one that nobody knows nothing is told.',
    {},
    async (scene) => {
      const approval = await scene.enroll()
      const { enrollment, request_digest } = approval
      await scene.ask(
        'owner',
        { kind: 'enroll.deny', enrollment: id(0xee), request_digest },
        'refused forbidden',
        {
          why: '`enroll.deny`: a request that the host never made',
        },
      )
      await scene.ask('owner', { kind: 'enroll.deny', enrollment, request_digest }, 'denied')
      await scene.ask('owner', { kind: 'enroll.deny', enrollment, request_digest }, 'denied')
      const op = { ...approval, device: keyOf('tablet').publicKey }
      await scene.ask('owner', op, 'refused denied', { why: '`enroll.approve`: the request was denied' })
    },
  ),
  scenario('enrollment-expired', 'An enrollment lives for 300 seconds.', {}, async (scene) => {
    const approval = await scene.enroll()
    const op = { ...approval, device: keyOf('tablet').publicKey }
    await scene.advance(300)
    await scene.ask('owner', op, 'refused expired', { why: '`enroll.approve`: the request expired' })
    const { enrollment, request_digest } = op
    await scene.ask('owner', { kind: 'enroll.deny', enrollment, request_digest }, 'refused expired', {
      why: '`enroll.deny`: the request expired',
    })
    await scene.advance(60)
    await scene.ask('owner', op, 'refused forbidden', {
      why: '`enroll.approve`: a request that expired over a minute ago',
    })
  }),
  scenario('enrollment-closed', 'Five wrong codes close an enrollment.', {}, async (scene) => {
    const approval = await scene.enroll()
    const op = { ...approval, device: keyOf('tablet').publicKey }
    for (const digit of ['1', '2', '3', '4', '5']) {
      const code = `${digit.repeat(4)}-ZZZZ`
      await scene.ask('owner', { ...op, code }, 'refused wrong_code', {
        why: '`enroll.approve`: another code than the host shows',
      })
    }
    await scene.ask('owner', op, 'refused rate_limited', {
      why: '`enroll.approve`: five wrong codes were given before',
    })
  }),
]

/** A code as a person may type it. */
function loosely(code: string): string {
  return ` ${code.toLowerCase().replace('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')}`
}
