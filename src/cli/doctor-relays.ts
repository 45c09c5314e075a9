import type { OpenHome } from '../bridge/home.ts'
import { probeRelay, type RelayProbe } from '../bridge/relay-probe.ts'
import { clockSkewSeconds, eventBytesMax, relayEventBytesToPair } from '../limits.ts'
import { eventBytesUnder, limitNotes } from '../protocol/relay-limits.ts'
import { quoted } from '../protocol/shell-word.ts'
import { createSigner } from '../protocol/signer.ts'
import { askRelayInformation } from '../seams/http-relay-information.ts'
import { systemRandom } from '../seams/random.ts'
import { dialRelay } from '../seams/ws-relay-socket.ts'
import type { Check } from './doctor-check.ts'
import type { Door } from './door.ts'

/** Looks at each relay of the settings over the network, all at once, for at most ten seconds. */
export async function relayChecks(door: Door, { settings, hostKey }: OpenHome): Promise<Check[]> {
  const signer = createSigner(hostKey.secret)
  const common = { signer, clock: door.clock, random: systemRandom, dial: dialRelay }
  const probes = settings.relays.map((url) =>
    probeRelay({ ...common, url, information: askRelayInformation }),
  )
  return (await Promise.all(probes)).flatMap((probe) => checksOf(probe, signer.publicKey))
}

/** What one look at a relay means. Pure. */
export function checksOf(probe: RelayProbe, host: string): Check[] {
  const name = `relay ${probe.url}`
  if (probe.fault !== null) {
    const fix = `${toReach(probe.url)}, or: drawbridge relay remove ${quoted(probe.url)}`
    return [{ name, ok: false, detail: probe.fault, fix }, ...clock(probe, name)]
  }
  return [
    { name, ok: true, detail: 'live', fix: null },
    authentication(probe, name, host),
    limits(probe, name),
    ...clock(probe, name),
  ]
}

/** A ws:// relay is one of this computer, most often the one that the service itself runs. */
function toReach(url: string): string {
  if (!url.startsWith('ws:')) return 'check the address and the network'
  return `start it (drawbridge serve --embedded-relay ${new URL(url).host} --loopback-test)`
}

function authentication({ auth }: RelayProbe, relay: string, host: string): Check {
  const name = `${relay}, who reads`
  if (auth === 'accepted') return { name, ok: true, detail: 'it knows this host', fix: null }
  if (auth === 'none') {
    const detail = 'it never asks who reads: anybody can see who writes to whom, and when'
    return { name, ok: true, detail, fix: null }
  }
  const detail = auth === 'refused' ? 'it refuses this host' : 'it does not answer an authentication'
  return { name, ok: false, detail, fix: `have the key ${host} let in at the relay, or use another relay` }
}

function limits({ limits, undocumented }: RelayProbe, relay: string): Check {
  const name = `${relay}, limits`
  if (undocumented !== null) return { name, ok: true, detail: `not told: ${undocumented}`, fix: null }
  const bytes = eventBytesUnder(limits)
  const detail = limitNotes(limits).join('; ') || `takes events of ${eventBytesMax} bytes`
  const other = 'or use another relay'
  if (bytes < relayEventBytesToPair) {
    return {
      name,
      ok: false,
      detail,
      fix: `have it take messages of ${eventBytesMax + 1_024} bytes, ${other}`,
    }
  }
  if ((limits.min_pow_difficulty ?? 0) > 0 || limits.payment_required === true) {
    return { name, ok: false, detail, fix: `have it take kind 3188 without that, ${other}` }
  }
  return { name, ok: true, detail, fix: null }
}

function clock({ aheadSeconds, limits }: RelayProbe, relay: string): Check[] {
  if (aheadSeconds === null) return []
  const apart = Math.abs(aheadSeconds)
  const detail =
    apart <= 1
      ? 'agrees with this machine’s'
      : `${apart} s ${aheadSeconds < 0 ? 'behind' : 'ahead of'} this machine’s`
  const allowed = aheadSeconds < 0 ? (limits.created_at_upper_limit ?? clockSkewSeconds) : clockSkewSeconds
  const ok = apart <= Math.max(1, Math.min(allowed, clockSkewSeconds))
  const fix = 'compare both clocks with a third, and set the wrong one: timedatectl set-ntp true'
  return [{ name: `${relay}, clock`, ok, detail, fix: ok ? null : fix }]
}
