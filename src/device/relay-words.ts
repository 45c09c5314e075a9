import { relayWordsCharsMax } from '../limits.ts'
import { relayAnswers } from '../protocol/relay-answers.ts'
import type { OkPrefix } from '../protocol/relay-frames.ts'

/** What a relay's refusal of an event means to the device that sent it. */
export interface RelayRefusal {
  /** For people. */
  readonly words: string
  /** Whether the same event may be taken a little later on this connection. */
  readonly again: boolean
}

const meanings: Readonly<Record<OkPrefix, string>> = {
  duplicate: 'the relay has it already',
  pow: 'the relay wants proof of work, which a device does not do',
  blocked: 'the relay carries nothing from or to these keys',
  'rate-limited': 'the relay takes no more from this device for now',
  invalid: 'the relay finds it invalid',
  restricted: 'the relay does not serve this device',
  'auth-required': 'the relay does not accept who this device is',
  mute: 'nobody listened at the relay, and it kept nothing',
  error: 'the relay could not take it',
  none: 'the relay did not take it',
}

/**
 * What to say and do when a relay refuses a request. It is never the host's refusal: the request stays unknown.
 * @param message the relay's own, with its prefix
 * @see spec/wire.md §8
 */
export function relayRefusal(prefix: OkPrefix, message: string): RelayRefusal {
  const said = (prefix === 'none' ? message : message.slice(prefix.length + 1)).trim()
  const own = said === '' ? '' : `: ${said.slice(0, relayWordsCharsMax)}`
  const label = prefix === 'none' ? '' : ` (${prefix})`
  const { publisher } = relayAnswers[prefix]
  return {
    words: `${meanings[prefix]}${label}${own}`,
    again: publisher === 'again' || publisher === 'slow_down',
  }
}
