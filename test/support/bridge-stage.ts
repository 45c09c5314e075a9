import { controlClient } from '../../src/bridge/control-client.ts'
import type { Counted } from '../../src/bridge/counters.ts'
import { initHome } from '../../src/bridge/home.ts'
import { createLog } from '../../src/bridge/log.ts'
import type { Operator } from '../../src/bridge/operator.ts'
import { type Service, startService } from '../../src/bridge/service.ts'
import type { Launcher } from '../../src/host/supervise/launch-owner.ts'
import type { Grant } from '../../src/protocol/bodies/grant.ts'
import { parseBody } from '../../src/protocol/body.ts'
import { openVerified } from '../../src/protocol/envelope.ts'
import { parseInvitation } from '../../src/protocol/invitation.ts'
import type { Right } from '../../src/protocol/rights.ts'
import { type Relay, startRelay } from '../../src/relay/listen.ts'
import { type Clock, nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { realDisk } from '../../src/store/disk.ts'
import { gitWorkspace } from './git-workspace.ts'
import { testKey } from './keys.ts'
import { tempDir } from './temp-dir.ts'
import { type WirePeer, wirePeer } from './wire-peer.ts'

export const ownerKey = testKey(12)

/** A real relay and a real service in this process, with a home of its own and a workspace `site`. */
export interface BridgeStage {
  readonly home: string
  readonly host: string
  readonly relay: Relay
  readonly operator: Operator
  /** Everything that was logged. */
  readonly lines: string[]
  service(): Service
  /** A peer with a key of a small scalar, connected to the primary relay unless another is named. */
  peer(scalar: number, at?: string): Promise<WirePeer>
  /** A peer that redeemed an invitation to these rights. */
  device(scalar: number, rights?: Right[], at?: string): Promise<WirePeer>
  invite(rights?: Right[], at?: string): Promise<string>
  counted(reason: Counted): Promise<number>
  /** Resolves when a reason was counted this often. */
  untilCounted(reason: Counted, times?: number): Promise<void>
  stop(): Promise<void>
  start(): Promise<void>
  /** Ends everything. */
  end(): Promise<void>
}

/**
 * @param relaysOf gives the relays that are served, the primary first, from the URL of the embedded one
 * @param options.clock of the service and the relay
 * @param options.launcher is told to start what the policy lets start; nothing is started without it
 */
export async function bridgeStage(
  relaysOf: (embedded: string) => readonly string[] = (embedded) => [embedded],
  { clock = systemClock, launcher = nobody }: { clock?: Clock; launcher?: Launcher } = {},
): Promise<BridgeStage> {
  const home = await tempDir()
  const { path: workspace } = await gitWorkspace()
  let host = ''
  const relay = await startRelay({
    clock,
    random: systemRandom,
    host: '127.0.0.1',
    port: 0,
    serves: () => [host],
  })
  const relays = relaysOf(relay.url)
  const deps = { disk: realDisk, clock, random: systemRandom, home }
  const summary = await initHome(deps, {
    owner: ownerKey.publicKey,
    relays: [...relays],
    workspaces: [{ label: 'site', path: workspace }],
    loopbackTest: true,
  })
  host = summary.host
  const lines: string[] = []
  const log = createLog(clock, 'debug', { write: (line) => void lines.push(line) })
  let service: Service | null = null
  const peers: WirePeer[] = []

  const running = (): Service => {
    if (service === null) throw new Error('the service is stopped')
    return service
  }
  const start = async () => {
    service = await startService({ ...deps, dial: dialRelay, launcher, log, pid: process.pid })
    await service.ready
  }
  const stop = async () => {
    await service?.stop()
    service = null
  }
  await start()

  const operator = controlClient({ ...deps, clock: systemClock })
  const stage: BridgeStage = {
    home,
    host,
    relay,
    operator,
    lines,
    service: running,
    async peer(scalar, at = relays[0] ?? relay.url) {
      const peer = await wirePeer({ key: testKey(scalar), host, relay: at, clock })
      peers.push(peer)
      return peer
    },
    async device(scalar, rights = ['observe', 'operate'], at) {
      const peer = await stage.peer(scalar, at)
      peer.grant = await redeem(peer, await stage.invite(rights, at))
      return peer
    },
    async invite(rights = ['observe', 'operate'], at) {
      const grant_expires_at = nowSeconds(clock) + 86_400
      return (await operator.invite({ rights, grant_expires_at, relay: at ?? null })).code
    },
    counted: async (reason) => (await running().status()).counters[reason] ?? 0,
    async untilCounted(reason, times = 1) {
      const patience = Date.now() + 5_000
      while ((await stage.counted(reason)) < times) {
        if (Date.now() > patience) {
          throw new Error(`never counted ${reason}: ${JSON.stringify((await running().status()).counters)}`)
        }
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    start,
    stop,
    async end() {
      for (const peer of peers) peer.close()
      await stop()
      await relay.close()
    },
  }
  return stage
}

const nobody: Launcher = { launch: () => Promise.reject(new Error('nothing is launched here')) }

/** Redeems an invitation code and gives the grant that came back. */
export async function redeem(peer: WirePeer, code: string): Promise<Grant> {
  const { invitation, capability } = parseInvitation(code, 'loopback_test')
  const result = await peer.ask(
    { kind: 'enroll.redeem', invitation, capability },
    { grant: null, epoch: null },
  )
  if (result.status !== 'ok' || result.outcome.kind !== 'granted') {
    throw new Error(`not granted: ${JSON.stringify(result)}`)
  }
  const opened = openVerified(result.outcome.authorization, peer.key.publicKey, peer.key.with)
  return parseBody('grant', opened.body, 'loopback_test')
}
