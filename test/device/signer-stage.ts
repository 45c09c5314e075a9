import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { parseBunkerUrl } from '../../src/device/remote-signer/bunker-url.ts'
import { openRemoteSigner, type RemoteSigner } from '../../src/device/remote-signer.ts'
import { type Clock, systemClock } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import type { RelaySocket } from '../../src/seams/relay-socket.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { realDisk } from '../../src/store/disk.ts'
import { type Bunker, type BunkerAnswer, startBunker } from '../support/bunker.ts'
import { testKey } from '../support/keys.ts'
import { type ForeignRelay, nostrRelay } from '../support/nostr-relay.ts'
import { tempDir } from '../support/temp-dir.ts'

export const peer = testKey(11)
export const template = {
  kind: 3_188,
  created_at: 1_795_000_000,
  tags: [['p', peer.publicKey]],
  content: 'x',
}

/** The relay, the signer and the state directory of the running test, fresh for each; and what a person was told. */
export let relay: ForeignRelay
export let bunker: Bunker
export let dir: string
export let told: string[]
let signers: RemoteSigner[]
export let sockets: RelaySocket[]

beforeEach(async () => {
  relay = await nostrRelay()
  bunker = await startBunker(relay.url)
  dir = join(await tempDir(), 'device')
  told = []
  signers = []
  sockets = []
})
afterEach(async () => {
  for (const signer of signers) signer.close()
  bunker.close()
  await relay.close()
})

/** Connects to the signer, as one more process would. */
export async function open(url = bunker.url, clock: Clock = systemClock): Promise<RemoteSigner> {
  const signer = await openRemoteSigner({
    bunker: parseBunkerUrl(url, 'loopback_test'),
    disk: realDisk,
    dir,
    clock,
    random: systemRandom,
    dial(url, events) {
      const socket = dialRelay(url, events)
      sockets.push(socket)
      return socket
    },
    tell: (line) => void told.push(line),
  })
  signers.push(signer)
  return signer
}

/** A minute of it is over in a fifth of a second; nothing here looks at how late it is. */
export const hasty: Clock = {
  ...systemClock,
  after: (ms, run) => systemClock.after(ms > 5_000 ? ms / 300 : ms, run),
}

/** Answers one method in another way. */
export function instead(
  method: string,
  answer: BunkerAnswer | ((usual: BunkerAnswer) => BunkerAnswer),
): void {
  bunker.answer = (request) => {
    if (request.method !== method) return bunker.usual(request)
    return typeof answer === 'function' ? answer(bunker.usual(request)) : answer
  }
}
