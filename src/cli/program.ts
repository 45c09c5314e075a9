import { Command } from '@commander-js/extra-typings'
import { addAccess } from './commands/access.ts'
import { addAutostart } from './commands/autostart.ts'
import { addCommands } from './commands/commands.ts'
import { addCompletion, isCompletion } from './commands/completion.ts'
import { addDemo } from './commands/demo.ts'
import { addDevice } from './commands/device.ts'
import { addDoctor } from './commands/doctor.ts'
import { addEnroll } from './commands/enroll.ts'
import { addGrant } from './commands/grant.ts'
import { addInit } from './commands/init.ts'
import { addProtocol } from './commands/protocol.ts'
import { addQueue } from './commands/queue.ts'
import { addRelay } from './commands/relay.ts'
import { addServe } from './commands/serve.ts'
import { addStore } from './commands/store.ts'
import { addTask } from './commands/task.ts'
import { addVersion } from './commands/version.ts'
import { addWorkspace } from './commands/workspace.ts'
import { exampleText, type Parent } from './declare.ts'

/** Every family of commands, in the order in which help lists them. Declaring one loads nothing heavy. */
const families: readonly ((program: Parent) => void)[] = [
  addInit,
  addServe,
  addDoctor,
  addAccess,
  addEnroll,
  addWorkspace,
  addRelay,
  addAutostart,
  addTask,
  addStore,
  addGrant,
  addCommands,
  addQueue,
  addDevice,
  addProtocol,
  addDemo,
  addVersion,
]

const example =
  'drawbridge init --create-owner --relay wss://relay.example --workspace notes=~/work/notes\ndrawbridge serve'

/**
 * The whole command tree. Help, unknown words and unknown flags never end the process here: they are thrown
 * as commander's errors.
 */
export async function buildProgram(words: readonly string[]): Promise<Command> {
  const program = new Command('drawbridge')
    .description('Lets your own devices drive work on this computer over Nostr, under your grant.')
    .option('--home <dir>', 'where state lives (DRAWBRIDGE_HOME, default ~/.drawbridge)')
    .option('--json', 'one JSON value on standard output')
    .option('--allow-root', 'run turns as root: this is a throw-away machine (DRAWBRIDGE_ALLOW_ROOT=1)')
    .addHelpText('after', exampleText(example))
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .showHelpAfterError('(--help shows how)')
    .configureOutput({
      outputError: (text, write) => write(withoutSecrets(text.replace(/^error: /, 'drawbridge: '))),
    })
  for (const add of families) add(program)
  await addCompletion(program, isCompletion(words))
  return program
}

/** What commander says of wrong words shows them: a secret among them is left out. */
function withoutSecrets(text: string): string {
  return text.replace(/(bunker:|coder-host:)[^\s']+/gi, '$1…')
}
