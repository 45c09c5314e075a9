import { type AccessBook, createAccessBook, openAccessBook } from '../../src/bridge/access/book.ts'
import type { Principal } from '../../src/bridge/access/principal.ts'
import type { AccessRecord, GrantEntry } from '../../src/bridge/access/record.ts'
import type { GrantingContext } from '../../src/bridge/operations/context.ts'
import { type MadeEnrollment, requestEnrollment } from '../../src/bridge/operations/enrollments.ts'
import { homePaths } from '../../src/bridge/paths.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { OperationOf } from '../../src/protocol/operations.ts'
import type { Right } from '../../src/protocol/rights.ts'
import { type Clock, nowSeconds } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { keys, now, relay } from './access.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { testKey } from './keys.ts'
import { type SimulatedMachine, simulatedMachine } from './simulated-disk.ts'

/** An access book on a disk that can fail, and what operations on it sign and publish. */
export interface AccessDesk {
  readonly machine: SimulatedMachine
  readonly clock: FakeClock
  /** What the operations of this life work on. */
  context(): GrantingContext
  book(): AccessBook
  /** What was handed to relays, in all lives. */
  readonly published: { readonly relay: string; readonly event: NostrEvent; readonly until: number }[]
  /** The devices that were announced as enrolled. */
  readonly enrolled: string[]
  /** Puts grants in the book as they are. */
  hold(...entries: GrantEntry[]): Promise<void>
  request(rights?: Right[]): Promise<MadeEnrollment>
  /** Ends the process wherever it is, and opens everything again. */
  restart(): Promise<void>
}

export async function accessDesk(chance: () => number = Math.random): Promise<AccessDesk> {
  const machine = simulatedMachine(chance)
  const clock = fakeClock(now * 1000)
  const paths = homePaths('/home/keeper/.drawbridge')
  const host = testKey(11)
  const published: AccessDesk['published'] = []
  const enrolled: string[] = []
  let book: AccessBook | null = null

  const opened = (): AccessBook => {
    if (book === null) throw new Error('nothing is open')
    return book
  }
  const desk: AccessDesk = {
    machine,
    clock,
    published,
    enrolled,
    book: opened,
    context: () => ({
      clock,
      random: systemRandom,
      book: opened(),
      forget() {},
      sealer: { signer: host.signer, random: systemRandom, keyOf: host.with },
      publish: (to, event, until) => void published.push({ relay: to, event, until }),
      enrolled: (device) => void enrolled.push(device),
    }),
    async hold(...entries) {
      await opened().change((record) => ({ record: withGrants(record, entries), value: undefined }))
    },
    request: (rights = ['observe', 'operate', 'review']) =>
      requestEnrollment(desk.context(), { rights, relay }),
    async restart() {
      book = await openAccessBook(machine.boot(), clock, paths, { host: keys.host, owner: keys.owner })
    },
  }
  await createAccessBook(machine.boot(), paths, keys.host, keys.owner)
  await desk.restart()
  return desk
}

/** The owner, as it asks. */
export const asOwner = asking({ kind: 'owner', key: keys.owner })

/** How a principal asks over the relay of these tests. */
export function asking(principal: Principal) {
  const signer = principal.kind === 'operator' ? keys.owner : principal.key
  return { principal, signer, request: 'ab'.repeat(32), relay }
}

/** The approval of what was asked for, for the phone; each test changes it. */
export function approvalOf(
  made: MadeEnrollment,
  at: Clock,
  changes: Partial<OperationOf<'enroll.approve'>> = {},
): OperationOf<'enroll.approve'> {
  return {
    kind: 'enroll.approve',
    enrollment: made.enrollment,
    request_digest: made.digest,
    code: made.code,
    device: keys.phone,
    rights: ['observe', 'operate'],
    grant_expires_at: nowSeconds(at) + 86_400,
    ...changes,
  }
}

function withGrants(record: AccessRecord, entries: GrantEntry[]): AccessRecord {
  const devices = new Set([...record.grants, ...entries].map(({ grant }) => grant.device))
  const known = new Set(record.epochs.map(({ device }) => device))
  const fresh = [...devices].filter((device) => !known.has(device)).map((device) => ({ device, epoch: 0 }))
  return { ...record, grants: [...record.grants, ...entries], epochs: [...record.epochs, ...fresh] }
}
