import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sealEnvelope } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import { randomId, systemRandom } from '../../src/seams/random.ts'
import { keyOf, type TestKey, testKey } from '../support/keys.ts'
import type { Intruder } from './hostile-session.ts'
import type { HostileStage, StagedDevice } from './hostile-stage.ts'

const twoYears = 2 * 365 * 86_400

/** A device's own key, out of its state directory. */
export async function keyOfDevice({ dir }: Pick<StagedDevice, 'dir'>): Promise<TestKey> {
  return keyOf((await readFile(join(dir, 'device.key'), 'utf8')).trim())
}

/** Genuine and false events that nobody sent now: of strangers and of enrolled devices, dated now and far ahead. */
export async function intrudersFor(
  stage: HostileStage,
  devices: readonly StagedDevice[],
): Promise<Intruder[]> {
  const { host, clock } = stage
  const now = nowSeconds(clock)
  const keys = [testKey(15), ...(await Promise.all(devices.map(keyOfDevice)))]
  const toHost = keys.flatMap((key) => [
    askedAt(key, stage, now + twoYears),
    askedAt(key, stage, now - 3_600),
    { ...askedAt(key, stage, now + twoYears), sig: '1'.repeat(128) },
  ])
  const toDevices = devices.map(({ key }) => ({
    to: key,
    event: sealedFor(testKey(15), key, now + twoYears, { v: 'openagents.unknown.v1', requires: [] }),
  }))
  return [...toHost.map((event) => ({ to: host, event })), ...toDevices]
}

/** A request that would be answered if it were dated now. */
export function askedAt(
  key: TestKey,
  { host, relay }: HostileStage,
  at: number,
  op: object = { kind: 'workspace.list' },
): NostrEvent {
  const body = {
    v: 'openagents.host-request.v1',
    requires: [],
    request: randomId(systemRandom),
    host,
    grant: null,
    epoch: null,
    relay: relay.url,
    issued_at: at,
    expires_at: at + 60,
    op,
  }
  return sealedFor(key, host, at, body, body.request)
}

function sealedFor(
  key: TestKey,
  recipient: string,
  at: number,
  body: object,
  mailbox = '5a'.repeat(32),
): NostrEvent {
  return sealEnvelope({
    signer: key.signer,
    recipient,
    mailbox,
    body,
    conversationKey: key.with(recipient),
    issuedAt: at,
    retainUntil: at + 60,
    random: systemRandom,
  })
}
