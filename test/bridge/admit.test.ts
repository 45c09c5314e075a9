import { describe, expect, it } from 'vitest'
import { type Asked, admit } from '../../src/bridge/admit.ts'
import { around, asked, phone } from './admission-base.ts'
import { furtherRows, redemptionRows } from './admission-redemption-rows.ts'
import { rows } from './admission-rows.ts'

describe('the order of admission', () => {
  for (const row of [...rows, ...furtherRows, ...redemptionRows]) {
    it(`${row.name}: ${row.earns}`, () => {
      const whole: Asked = { ...asked, ...row.asked, head: { ...asked.head, ...row.head } }
      expect(inWords(admit(whole, { ...around, ...row.around }))).toBe(row.earns)
    })
  }

  it('notes the grant that was heard, also with a missing right', () => {
    expect(admit(asked, around)).toMatchObject({ heard: phone.grant.grant })
    const missing = admit({ ...asked, op: { ok: true, op: { kind: 'device.list' } } }, around)
    expect(missing).toMatchObject({ heard: phone.grant.grant })
    expect(admit({ ...asked, head: { ...asked.head, epoch: 4 } }, around)).toMatchObject({ heard: null })
  })
})

function inWords(admission: ReturnType<typeof admit>): string {
  switch (admission.kind) {
    case 'silent':
      return `silent ${admission.reason}`
    case 'refuse':
      return ['refuse', admission.code, admission.missing, admission.retain ? 'retained' : null]
        .filter((word) => word !== null)
        .join(' ')
    case 'act':
      return `act ${admission.principal.kind}`
    default:
      return admission.kind
  }
}
