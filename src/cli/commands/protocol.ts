import { Option } from '@commander-js/extra-typings'
import { declare, group, type Parent } from '../declare.ts'
import { answer } from '../door.ts'
import { word } from '../options.ts'

const bodies = ['grant', 'request', 'reply', 'enrollment', 'nudge', 'presence', 'summary'] as const
const loopback = ['--loopback-test', 'also allows relays at ws:// loopback addresses'] as const

/** `drawbridge protocol …`, for people who write devices. @see spec/cli.md */
export function addProtocol(program: Parent): void {
  const protocol = group(
    program,
    'protocol',
    'for people who write devices: bodies, envelopes, invitations',
    'drawbridge protocol check --schema request body.json',
  )
  declare(
    protocol,
    'check',
    'says whether a body is valid: its canonical form, or the refusal with code and field',
    'drawbridge protocol check --schema request body.json',
  )
    .argument('[file]', 'the body, or - for standard input', '-')
    .addOption(new Option('--schema <name>', 'which body it is').choices(bodies).makeOptionMandatory())
    .option(...loopback)
    .action(async (file, options, command) => {
      await answer(command, async () => (await import('../protocol.ts')).check(file, options))
    })
  declare(
    protocol,
    'seal',
    'seals a body for a peer and signs the envelope',
    'drawbridge protocol seal --key-file device/device.key --peer HEX body.json',
  )
    .argument('[file]', 'the body, or - for standard input', '-')
    .requiredOption('--key-file <file>', 'the secret key: 64 hex, mode 0600', word)
    .requiredOption('--peer <hex>', "the recipient's public key", word)
    .option(...loopback)
    .action(async (file, options, command) => {
      await answer(command, async () => (await import('../protocol.ts')).seal(file, options))
    })
  declare(
    protocol,
    'open',
    'verifies an envelope and opens it',
    'drawbridge protocol open --key-file host/host.key --peer HEX event.json',
  )
    .argument('[file]', 'the signed event, or - for standard input', '-')
    .requiredOption('--key-file <file>', 'the secret key: 64 hex, mode 0600', word)
    .requiredOption('--peer <hex>', "the other side's public key", word)
    .option(...loopback)
    .action(async (file, options, command) => {
      await answer(command, async () => (await import('../protocol.ts')).open(file, options))
    })
  declare(
    protocol,
    'invitation',
    'takes an invitation apart; the capability is never shown',
    'drawbridge invite --out code.txt\ndrawbridge protocol invitation code.txt\ndrawbridge protocol invitation --loopback-test code.txt    # of a relay at a ws:// loopback address',
  )
    .argument('<code>', 'a file, - for standard input, or the code itself')
    .option(...loopback)
    .action(async (code, options, command) => {
      await answer(command, async (door) => (await import('../protocol.ts')).invitation(door, code, options))
    })
}
