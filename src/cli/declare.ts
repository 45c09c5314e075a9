import type { Command } from '@commander-js/extra-typings'

/** Anything that commands can be added to. */
// biome-ignore lint/suspicious/noExplicitAny: commander's own type for "whatever options it has"
export type Parent = Command<any, any, any>

/** Adds a command with its summary and one example of it in use. */
export function declare(parent: Parent, name: string, summary: string, example: string): Command {
  return parent.command(name).description(summary).addHelpText('after', exampleText(example))
}

/** Adds a command that only groups others, with one example of them. */
export function group(parent: Parent, name: string, summary: string, example: string): Command {
  return declare(parent, name, summary, example)
}

/** The end of a help text: what one types, a line each. */
export function exampleText(example: string): string {
  return `\nExample:\n  ${example.replaceAll('\n', '\n  ')}`
}
