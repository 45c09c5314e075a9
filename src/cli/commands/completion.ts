import { Argument, type Command } from '@commander-js/extra-typings'
import { declare } from '../declare.ts'
import { answer } from '../door.ts'

/** The library's own command for scripts, which also knows a shell that we do not. It is not offered. */
const libraryCommand = 'completions'
const shells = ['bash', 'zsh', 'fish'] as const

/** Whether this command line answers a completion script. */
export function isCompletion(words: readonly string[]): boolean {
  return words[0] === 'complete'
}

/**
 * `drawbridge completion SHELL`, and the hidden `complete` that the scripts ask. The library that knows the shells is
 * loaded only when it is needed. Called after every other command was added, since it completes those.
 */
export async function addCompletion(program: Command, asked: boolean): Promise<void> {
  declare(
    program,
    'completion',
    'a completion script for bash, zsh or fish; it needs no other package',
    [
      'drawbridge completion bash > ~/.local/share/bash-completion/completions/drawbridge',
      'source <(drawbridge completion bash)    # in this shell only, also without the package bash-completion',
    ].join('\n'),
  )
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action(async (shell, _options, command) => {
      await answer(command, async (door) => {
        const { default: tab } = await import('@bomb.sh/tab')
        // The library prints the script itself.
        door.out(shell === 'bash' ? bashWords : '')
        tab.setup('drawbridge', 'drawbridge', shell)
        return null
      })
    })
  if (!asked) return
  const { default: tab } = await import('@bomb.sh/tab/commander')
  const root = tab(program as unknown as Parameters<typeof tab>[0], { completionCommandName: libraryCommand })
  root.commands.delete(libraryCommand)
}

/** What the bash script takes from the package bash-completion, for shells without it: the words, cut at blanks only. */
const bashWords = `# the words of the line, where the package bash-completion does not find them
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref() {
        local before="\${COMP_LINE:0:COMP_POINT}"
        read -r -a words <<< "$before"
        [[ -z "$before" || "$before" == *[[:space:]] ]] && words+=("")
        cword=$(( \${#words[@]} - 1 ))
        cur="\${words[cword]}"
        prev=""
        (( cword > 0 )) && prev="\${words[cword-1]}"
        return 0
    }
fi
`
