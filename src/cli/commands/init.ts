import { resolve } from 'node:path'
import { declare, type Parent } from '../declare.ts'
import { answer } from '../door.ts'
import { many, manyLabelled, word } from '../options.ts'
import { facts } from '../output.ts'

/** `drawbridge init`. @see spec/cli.md */
export function addInit(program: Parent): void {
  declare(
    program,
    'init',
    'makes a home: its owner, the host key, relays and workspaces',
    'drawbridge init --create-owner --relay wss://relay.example --workspace notes=~/work/notes',
  )
    .option('--owner <key>', 'whose authority this host serves: npub1… or 64 hex', word)
    .option('--create-owner', 'makes an owner key in host/owner.key')
    .option('--relay <url>', 'a relay to serve on; may be repeated', many)
    .option('--workspace <label=path>', 'a folder that devices may name; may be repeated', manyLabelled)
    .option('--loopback-test', 'also allows relays at ws:// loopback addresses, for trying things')
    .action(async (options, command) => {
      await answer(command, async (door) => {
        const { homeDeps } = await import('../deps.ts')
        const { initHome } = await import('../../bridge/home.ts')
        const summary = await initHome(homeDeps(door), {
          ...(options.owner === undefined ? {} : { owner: options.owner }),
          createOwner: options.createOwner ?? false,
          relays: options.relay ?? [],
          workspaces: (options.workspace ?? []).map(({ label, path }) => ({ label, path: resolve(path) })),
          loopbackTest: options.loopbackTest ?? false,
        })
        const { host, owner, relays, workspaces } = summary
        const text = facts([
          ['home', door.home],
          ['host', host],
          ['owner', owner],
          ...relays.map((url) => ['relay', url] as const),
          ...workspaces.map(({ label, path }) => ['workspace', `${label}  ${path}`] as const),
        ])
        return { json: { host, owner, relays, workspaces }, text }
      })
    })
}
