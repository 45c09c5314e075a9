import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { randomId, systemRandom } from '../../src/seams/random.ts'
import { fuzzCases } from '../support/fuzz-cases.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import type { TestKey } from '../support/keys.ts'
import { type EventPlan, eventPlan, type MadeEvent, makeEvent } from './event-cases.ts'
import { fuzzedBodies } from './fixtures.ts'
import { type FuzzedHost, fuzzedHost, relayUrl } from './fuzzed-host.ts'
import { type Allowed, type HostWorld, judgeEvent } from './rules/event-rules.ts'

const bodies = Object.entries(fuzzedBodies)
  .filter(([name]) => !name.startsWith('reply_'))
  .map(([, body]) => body)
const texts = bodies.map((body) => Buffer.from(JSON.stringify(body)))
const cases = fuzzCases('requests to a real host')

let host: FuzzedHost
beforeAll(async () => {
  host = await fuzzedHost()
})

type World = HostWorld & { readonly newcomer: TestKey }
interface Case {
  readonly plan: EventPlan
  readonly made: MadeEvent
  readonly allowed: Allowed
}

/** A fixture as this signer could send it to this host, now, and then spoilt as planned. */
function caseOf(plan: EventPlan, world: World): Case {
  const { cast, keyWith } = host
  const fixture = bodies[plan.body % bodies.length] ?? expect.fail()
  const signers = [cast.full, cast.full, cast.observer, cast.owner, cast.stranger, cast.revoked, cast.host]
  let signer = signers[plan.signer % signers.length] ?? expect.fail()
  const standing = world.standings.get(signer.publicKey)
  const request = plan.body > 970 ? ([...world.taken.keys()][0] ?? '') : randomId(systemRandom)
  let { op } = fixture
  let grant: unknown = standing?.grant ?? null
  let epoch: unknown = standing?.epoch ?? null
  if (JSON.stringify(op ?? '').includes('enroll.redeem')) {
    const redeemers = [world.newcomer, world.newcomer, cast.owner, cast.host]
    signer = redeemers[plan.signer % redeemers.length] ?? expect.fail()
    const [[invitation, capability] = []] = [...world.invitations]
    op = { kind: 'enroll.redeem', invitation, capability } as typeof op
    grant = null
    epoch = null
  }
  const date = world.now + plan.shift
  const body = {
    ...fixture,
    ...('host' in fixture ? { host: world.host } : {}),
    ...('device' in fixture ? { device: signer.publicKey } : {}),
    ...('issued_at' in fixture ? { issued_at: date, expires_at: date + lifeOf(fixture) } : {}),
    ...('observed_at' in fixture ? { observed_at: date } : {}),
    ...('updated_at' in fixture ? { updated_at: date } : {}),
    ...('op' in fixture ? { request, relay: relayUrl, grant, epoch, op } : {}),
  }
  const made = makeEvent(plan, {
    body,
    mailbox: 'op' in fixture ? request : '5a'.repeat(32),
    signer,
    recipient: world.host,
    key: keyWith(signer),
    others: texts,
    now: world.now,
  })
  return { plan, made, allowed: judgeEvent(made, world) }
}

function lifeOf(fixture: Readonly<Record<string, unknown>>): number {
  return Number(fixture['expires_at']) - Number(fixture['issued_at'])
}

/** Delivers events and waits for what they earn; gives the words that each was answered, by event. */
async function answersTo(batch: readonly Case[]): Promise<Map<string, string[]>> {
  const words = new Map(batch.map(({ made }) => [made.event.id, [] as string[]]))
  const collect = (): void => {
    for (const { requestEvent, word } of host.answers()) words.get(requestEvent)?.push(word)
  }
  for (const { made } of batch) host.bridge.deliver(made.event)
  const patience = performance.now() + 10_000
  const waits = () =>
    batch.some(({ made, allowed }) => allowed.must && words.get(made.event.id)?.length === 0)
  do {
    await host.idle()
    collect()
  } while (waits() && performance.now() < patience)
  return words
}

function check({ made, allowed, plan }: Case, words: readonly string[]): void {
  const told = `${allowed.why}: ${words.join() || 'silence'} for ${JSON.stringify(plan)} ${Buffer.from(
    made.plaintext ?? [],
  )
    .toString()
    .slice(0, 3_000)}`
  expect(words.length <= 1, `at most one answer, ${told}`).toBe(true)
  expect(words.length === 1 || !allowed.must, `an answer, ${told}`).toBe(true)
  for (const word of words) expect(allowed.answers, told).toContain(word)
}

/** Every file of the home with its bytes; times at which a grant was last seen do not count. */
async function filesOf(home: string): Promise<Record<string, string>> {
  const names = await readdir(home, { recursive: true, withFileTypes: true })
  const files: Record<string, string> = {}
  for (const entry of names.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const text = await readFile(path, 'latin1')
    files[path] = text.replace(/"last_seen":(\d+|null)/g, '"last_seen":0')
  }
  return files
}

describe('a host', () => {
  it('answers whatever arrives with nothing or with one answer of a kind that the page allows, and writes nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(eventPlan, { minLength: 50, maxLength: 50 }), async (plans) => {
        const world = await host.freshWorld()
        const batch = plans.map((plan) => caseOf(plan, world))
        const quiet = batch.filter(({ allowed }) => !allowed.writes)
        const lively = batch.filter(({ allowed }) => allowed.writes)
        const before = await filesOf(host.bridge.home)
        host.changes.length = 0

        const words = await answersTo(quiet)
        for (const one of quiet) check(one, words.get(one.made.event.id) ?? [])
        expect(host.changes).toEqual([])
        expect(await filesOf(host.bridge.home)).toEqual(before)

        const livelyWords = await answersTo(lively)
        for (const one of lively) check(one, livelyWords.get(one.made.event.id) ?? [])
        expect((await host.bridge.service().status()).counters.failed ?? 0).toBe(0)
        cases.ran(batch.length)
      }),
      { numRuns: fuzzRuns(24), endOnFailure: true },
    )
    await host.bridge.stop()
  })
})
