import { Option } from '@commander-js/extra-typings'
import { declare, type Parent } from '../declare.ts'
import { answer } from '../door.ts'
import { listenAddress, wholeNumber } from '../options.ts'

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const
const waitSecondsMax = 3_600

/** `drawbridge serve` and `drawbridge status`. @see spec/cli.md */
export function addServe(program: Parent): void {
  declare(
    program,
    'serve',
    'runs the service in the foreground; turns go on when it stops',
    'drawbridge serve\ndrawbridge serve --embedded-relay 127.0.0.1:7777 --loopback-test',
  )
    .option('--embedded-relay [host:port]', 'also runs a relay here (default 127.0.0.1:7777)', listenAddress)
    .option('--loopback-test', 'also allows relays at ws:// loopback addresses')
    .addOption(new Option('--log-level <level>', 'what the log says (default info)').choices(levels))
    .action(async (options, command) => {
      await answer(command, async (door) => (await import('../serve.ts')).serve(door, options))
    })
  declare(
    program,
    'status',
    'how the service stands; exits 69 when it does not run',
    'drawbridge status --wait 30',
  )
    .option(
      '--wait [seconds]',
      'waits until every relay is live or had its time (default 30)',
      wholeNumber(0, waitSecondsMax),
    )
    .action(async (options, command) => {
      await answer(command, async (door) => (await import('../status.ts')).status(door, options.wait))
    })
}
