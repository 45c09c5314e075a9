import type { Command } from '@commander-js/extra-typings'
import { declare } from '../declare.ts'

/** Whether this command line writes a completion script or answers one. */
export function isCompletion(words: readonly string[]): boolean {
  return words[0] === 'completion' || words[0] === 'complete'
}

/**
 * `drawbridge completion SHELL`. The library that knows the shells is loaded only when it is asked for; help
 * always lists the command. Called after every other command was added, since it completes those.
 */
export async function addCompletion(program: Command, asked: boolean): Promise<void> {
  if (asked) {
    const { default: tab } = await import('@bomb.sh/tab/commander')
    tab(program as unknown as Parameters<typeof tab>[0], { completionCommandName: 'completion' })
    return
  }
  declare(
    program,
    'completion',
    'a completion script for bash, zsh or fish',
    'drawbridge completion bash > ~/.local/share/bash-completion/completions/drawbridge',
  ).argument('<shell>')
}
