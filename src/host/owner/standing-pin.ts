import { grantBytesMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { Disk } from '../../seams/disk.ts'
import { sha256Digest } from '../../store/digest.ts'
import type { ParsedGrant } from '../../store/tasks/grant.ts'
import { readPolicy, standingGrantPath } from '../autostart/policy.ts'

/**
 * Holds a grant that the auto-start policy gave to the policy's pin: the program that is admitted is the one that the
 * owner of the machine saw. A grant that a person wrote is under no pin.
 * Refuses `io`, so that planning looks at the program again.
 * @see spec/execution.md §13
 */
export async function checkStandingPin(
  disk: Disk,
  home: string,
  { grant, digest }: ParsedGrant,
  programDigest: string,
): Promise<void> {
  const saved = await disk.read(
    standingGrantPath(home, grant.task_id, grant.expected_revision),
    grantBytesMax,
  )
  if (saved === null || sha256Digest(saved) !== digest) return
  const pinned = (await readPolicy(disk, home))?.engine
  if (pinned === undefined || pinned.program !== grant.program) return
  if (pinned.program_digest === programDigest) return
  throw new Refusal('io', 'the program is no longer the one that the auto-start policy pinned')
}
