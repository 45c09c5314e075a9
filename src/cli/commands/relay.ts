import { declare, type Parent } from '../declare.ts'
import { answer, type Door } from '../door.ts'
import { listenAddress } from '../options.ts'
import { type Answer, table } from '../output.ts'
import { jsonLine } from '../printable.ts'

/**
 * `drawbridge relay`: the embedded relay alone; with `list`, `add` or `remove` the relays that the service serves
 * on. @see spec/cli.md
 */
export function addRelay(program: Parent): void {
  const relay = declare(
    program,
    'relay',
    'runs the embedded relay alone, or edits the list of relays',
    'drawbridge relay --listen 127.0.0.1:7777\ndrawbridge relay add wss://relay.example',
  )
    .option('--listen <host:port>', 'where to listen (default 127.0.0.1:7777)', listenAddress)
    .action(async (options, command) => {
      await answer(command, async (door) =>
        runRelay(door, options.listen ?? { host: '127.0.0.1', port: 7777 }),
      )
    })
  declare(relay, 'list', 'the relays that the service serves on', 'drawbridge relay list').action(
    async (_options, command) => {
      await answer(command, async (door) => {
        const { openHome, summaryOf } = await import('../../bridge/home.ts')
        const { realDisk } = await import('../../store/disk.ts')
        return shown(summaryOf(await openHome(realDisk, door.home)).relays)
      })
    },
  )
  declare(relay, 'add', 'serves on one more relay', 'drawbridge relay add wss://relay.example')
    .argument('<url>')
    .action(async (url, _options, command) => {
      await answer(command, async (door) => {
        const { withRelays } = await import('../../bridge/serve-settings.ts')
        return change(door, withRelays([url]))
      })
    })
  declare(relay, 'remove', 'no longer serves on a relay', 'drawbridge relay remove wss://relay.example')
    .argument('<url>')
    .action(async (url, _options, command) => {
      await answer(command, async (door) => {
        const { withoutRelay } = await import('../../bridge/serve-settings.ts')
        return change(door, withoutRelay(url))
      })
    })
}

/** Runs until it is told to stop. Prints its address when it listens, and nothing else. */
async function runRelay(door: Door, address: { host: string; port: number }): Promise<null> {
  door.refuseRoot()
  const { startRelay } = await import('../../relay/listen.ts')
  const { systemRandom } = await import('../../seams/random.ts')
  const stopped = door.stopped()
  const relay = await startRelay({ clock: door.clock, random: systemRandom, ...address, serves: () => null })
  door.out(door.json ? jsonLine({ url: relay.url }) : `${relay.url}\n`)
  await stopped
  await relay.close()
  return null
}

type Rule = Parameters<typeof import('../../bridge/serve-settings.ts').changeServeSettings>[2]

async function change(door: Door, rule: Rule): Promise<Answer> {
  const { changeServeSettings } = await import('../../bridge/serve-settings.ts')
  const { homePaths } = await import('../../bridge/paths.ts')
  const { realDisk } = await import('../../store/disk.ts')
  const { operatorOf } = await import('../operator.ts')
  const changed = await changeServeSettings(realDisk, homePaths(door.home), rule)
  await operatorOf(door).reload()
  return shown(changed.relays)
}

function shown(relays: readonly string[]): Answer {
  if (relays.length === 0) return { json: { relays }, text: 'no relays\n' }
  return {
    json: { relays },
    text: table(
      ['relay', ''],
      relays.map((url, at) => [url, at === 0 ? 'primary' : '']),
    ),
  }
}
