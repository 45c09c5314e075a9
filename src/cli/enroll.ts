import { parseRights } from '../protocol/rights.ts'
import { quoted } from '../protocol/shell-word.ts'
import type { Door } from './door.ts'
import { operatorOf } from './operator.ts'
import { type Answer, facts, localTime } from './output.ts'

/**
 * Asks the owner and the devices that administer access to approve a device on this host, and shows the code that the
 * approver has to type. Refuses `not_running` without a service.
 */
export async function requestEnrollment(
  door: Door,
  options: { rights?: string | undefined; relay?: string | undefined },
): Promise<Answer> {
  const rights = parseRights(options.rights ?? 'standard')
  const made = await operatorOf(door).requestEnrollment({ rights, relay: options.relay ?? null })
  const detail = facts([
    ['enrollment', made.enrollment],
    ['digest', made.digest],
    ['rights', rights.join(', ')],
    ['relay', made.relay],
    ['works until', localTime(made.expires_at)],
    ['asked', made.devices === 0 ? 'the owner' : `the owner and ${counted(made.devices)}`],
  ])
  const place = `--host ${made.host} --relay ${quoted(made.relay)}`
  const next = `drawbridge enroll approve ${place} --code ${made.code} --device KEY`
  return { json: { ...made, rights }, text: `${made.code}\n\n${detail}Approve it elsewhere with: ${next}\n` }
}

function counted(devices: number): string {
  return devices === 1 ? 'one device' : `${devices} devices`
}
