import { openHome } from '../bridge/home.ts'
import { createLog, type LogLevel } from '../bridge/log.ts'
import { type Service, startService } from '../bridge/service.ts'
import { systemBackend } from '../host/boundary/backend.ts'
import { createLauncher } from '../host/supervise/launch-owner.ts'
import { type Relay, startRelay } from '../relay/listen.ts'
import { askRelayInformation } from '../seams/http-relay-information.ts'
import { systemRandom } from '../seams/random.ts'
import { systemTelemetry } from '../seams/telemetry.ts'
import { dialRelay } from '../seams/ws-relay-socket.ts'
import { realDisk } from '../store/disk.ts'
import type { Door } from './door.ts'
import { jsonLine } from './printable.ts'

const relayDefault = { host: '127.0.0.1', port: 7777 }

/** The choices of `serve`. */
export interface ServeChoices {
  embeddedRelay?: { host: string; port: number } | true | undefined
  loopbackTest?: true | undefined
  logLevel?: LogLevel | undefined
}

/**
 * Runs the service until SIGTERM or SIGINT; running turns go on. Says one line when every relay is live or had its
 * first ten seconds. Refuses as the service does, and `io` when the embedded relay cannot listen or when no turn could be
 * confined on this machine.
 */
export async function serve(door: Door, choices: ServeChoices): Promise<null> {
  door.refuseRoot()
  const stopped = door.stopped()
  const { hostKey } = await openHome(realDisk, door.home)
  await systemBackend()
  const relay = await embedded(door, choices, hostKey.publicKey)
  try {
    const service = await startService({
      disk: realDisk,
      clock: door.clock,
      random: systemRandom,
      dial: dialRelay,
      information: askRelayInformation,
      launcher: createLauncher({ home: door.home, allowRoot: door.allowRoot }),
      log: createLog(door.clock, choices.logLevel ?? 'info'),
      home: door.home,
      pid: process.pid,
      relays: relay === null ? [] : [relay.url],
      loopbackTest: choices.loopbackTest ?? false,
      telemetry: systemTelemetry(door.clock),
    })
    try {
      await Promise.race([service.ready, stopped])
      await sayReady(door, service)
      await stopped
    } finally {
      await service.stop()
    }
  } finally {
    await relay?.close()
  }
  return null
}

/** The relay carries only what is from or to this host. */
async function embedded(door: Door, { embeddedRelay }: ServeChoices, host: string): Promise<Relay | null> {
  if (embeddedRelay === undefined) return null
  const address = embeddedRelay === true ? relayDefault : embeddedRelay
  return startRelay({ clock: door.clock, random: systemRandom, ...address, serves: () => [host] })
}

async function sayReady(door: Door, service: Service): Promise<void> {
  const { pid, host, relays, ready } = await service.status()
  if (!ready) return
  const states = relays.map(({ url, state }) => ({ url, state }))
  if (door.json) door.out(jsonLine({ pid, host, relays: states }))
  else door.out(`ready: ${states.map(({ url, state }) => `${url} ${state}`).join(', ') || 'no relays'}\n`)
}
