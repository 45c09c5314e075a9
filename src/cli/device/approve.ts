import { join, resolve } from 'node:path'
import { publicKeyFromText } from '../../bridge/public-key-text.ts'
import type { Device } from '../../device/device.ts'
import { chooseEnrollment, type PendingEnrollment } from '../../device/enrollment-copies.ts'
import { isEnrollmentCode } from '../../protocol/enrollment-code.ts'
import { envelopeAddress } from '../../protocol/envelope.ts'
import { eventJson, type NostrEvent } from '../../protocol/event.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { parseRights } from '../../protocol/rights.ts'
import { realDisk } from '../../store/disk.ts'
import { checkNotThere, thereAlready } from '../access-answers.ts'
import type { Door } from '../door.ts'
import { readInput } from '../input.ts'
import { type Answer, facts, localTime } from '../output.ts'
import { askFor, grantExpiry } from './access.ts'
import { hinted } from './hints.ts'
import { type DeviceChoices, stateOf, withDevice, withOwnDevice } from './open.ts'

/** What a person says of an approval or a denial. */
export interface EnrollChoices extends DeviceChoices {
  host: string
  enrollment?: string | undefined
}

/**
 * Approves the enrollment of a host that waits for this approver, for one device. A grant for the device of this
 * state directory is saved there; another device's is written to a file, or its host publishes it to the device.
 *
 * Refuses the host's own codes, `not_found` and `conflict` as `chooseEnrollment`, `wrong_code` before anything is sent
 * for what no code can be, and `io` for a file that is there already.
 */
export async function approve(
  door: Door,
  choices: EnrollChoices & {
    code: string
    device: string
    rights?: string | undefined
    grantSeconds?: number | undefined
    out?: string | undefined
  },
): Promise<Answer> {
  const device = publicKeyFromText(choices.device)
  const rights = choices.rights === undefined ? null : parseRights(choices.rights)
  const code = await typedCode(choices.code)
  const out = choices.out === undefined ? null : resolve(choices.out)
  await checkNotThere(out)
  const approved = async (approver: Device) => {
    const { request, digest } = await chosen(approver, choices)
    const op = {
      kind: 'enroll.approve' as const,
      enrollment: request.enrollment,
      request_digest: digest,
      code,
      device,
      rights: rights ?? request.rights,
      grant_expires_at: await grantExpiry(door, approver, choices.grantSeconds),
    }
    const { authorization } = await askFor(approver, op, 'granted')
    return { request, op, authorization }
  }
  const { request, op, authorization } = await hinted('approve', undefined, () =>
    withDevice(door, choices, approved),
  )
  const saved = await saveOwn(door, choices, request, device, authorization)
  if (out !== null) await keepAuthorization(out, authorization)
  const { host, relay, enrollment } = request
  const granted = { host, relay, enrollment, device, grant: envelopeAddress(authorization).mailbox }
  const terms = { rights: op.rights, expires_at: op.grant_expires_at, saved }
  const place = `--host ${host} --relay ${relay}`
  const next = saved
    ? ''
    : `On the device: drawbridge device accept ${place}${out === null ? '' : ` ${out}`}\n`
  const text = facts([
    ['approved', device],
    ['host', host],
    ['relay', relay],
    ['grant', granted.grant],
    ['rights', op.rights.join(', ')],
    ['until', localTime(op.grant_expires_at)],
    ['saved', saved ? 'yes, on this device' : out === null ? 'no' : out],
  ])
  const file = out === null ? { authorization } : { file: out }
  return { json: { ...granted, ...terms, ...file }, text: `${text}${next}` }
}

/** Denies the enrollment of a host that waits for this approver: nobody can approve it then. */
export async function deny(door: Door, choices: EnrollChoices): Promise<Answer> {
  const denied = async (approver: Device) => {
    const { request, digest } = await chosen(approver, choices)
    const { enrollment } = request
    await askFor(approver, { kind: 'enroll.deny', enrollment, request_digest: digest }, 'denied')
    return enrollment
  }
  const enrollment = await hinted('deny', undefined, () => withDevice(door, choices, denied))
  return { json: { enrollment, denied: true }, text: 'denied\n' }
}

async function chosen(approver: Device, { enrollment }: EnrollChoices): Promise<PendingEnrollment> {
  return chooseEnrollment(await approver.enrollments(), enrollment)
}

/** The code as typed; one that no host gives is wrong here already, and costs none of the five tries. */
async function typedCode(given: string): Promise<string> {
  const text =
    given === '-' ? new TextDecoder().decode(await readInput('-', 'configuration')).split('\n')[0] : given
  const code = (text ?? '').trim()
  if (isEnrollmentCode(code)) return code
  throw new Refusal('wrong_code', 'that is no code: a code is eight letters and digits, as the host shows it')
}

/** Saves the grant if it is for the device of the state directory, whoever approved it. */
async function saveOwn(
  door: Door,
  choices: DeviceChoices,
  { host, relay, enrollment }: PendingEnrollment['request'],
  device: string,
  authorization: NostrEvent,
): Promise<boolean> {
  // To look is not to make a device where there is none.
  if ((await realDisk.identity(join(stateOf(door, choices), 'device.key'))) === null) return false
  return withOwnDevice(door, choices, async (self) => {
    if ((await self.whoami()).device !== device) return false
    await self.accept({ host, relay, enrollment }, authorization, 0)
    return true
  })
}

async function keepAuthorization(out: string, authorization: NostrEvent): Promise<void> {
  const bytes = new TextEncoder().encode(`${eventJson(authorization)}\n`)
  if (!(await realDisk.create(out, bytes))) throw thereAlready(out)
}
