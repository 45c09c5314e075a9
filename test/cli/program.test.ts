import { CommanderError } from 'commander'
import { describe, expect, it } from 'vitest'
import { buildProgram } from '../../src/cli/program.ts'

type Program = Awaited<ReturnType<typeof buildProgram>>
type Known = Program['commands'][number]

describe('the command tree', async () => {
  const leaves = leavesOf(await buildProgram([]))

  it.each(leaves.map((leaf) => [nameOf(leaf), leaf] as const))(
    '%s has a help text with an example',
    (name, leaf) => {
      const help = helpOf(leaf)
      expect(help).toContain('Usage: drawbridge')
      if (name !== 'drawbridge help') expect(help).toMatch(/Example:\n {2}\S/)
      expect(help).toContain('--json')
    },
  )

  it.each(leaves.map((leaf) => [nameOf(leaf)] as const))(
    '%s refuses a flag it does not know',
    async (name) => {
      const program = await buildProgram([])
      silence(program)
      const words = [...name.split(' ').slice(1), '--no-such-flag']
      await expect(program.parseAsync(words, { from: 'user' })).rejects.toBeInstanceOf(CommanderError)
    },
  )

  it('every group and the program itself show an example too', async () => {
    const program = await buildProgram([])
    for (const command of [program, ...program.commands]) {
      if (command.name() !== 'help') expect(helpOf(command as Known)).toMatch(/Example:\n {2}drawbridge /)
    }
  })

  it('does not promise that a running bounded command can be steered', async () => {
    const program = await buildProgram([])
    const steering = leavesOf(program).filter((leaf) => ['steer', 'send-now'].includes(leaf.name()))
    expect(steering).toHaveLength(3)
    for (const leaf of steering) expect(leaf.description()).toContain('a running bounded-command takes none')
  })

  it('an unknown command is refused at every level', async () => {
    for (const words of [['nope'], ['task', 'nope'], ['device', 'nope'], ['queue', 'nope']]) {
      const program = await buildProgram([])
      silence(program)
      await expect(program.parseAsync(words, { from: 'user' })).rejects.toBeInstanceOf(CommanderError)
    }
  })
})

function leavesOf(command: Known | Program): Known[] {
  return command.commands.flatMap((child) => (child.commands.length === 0 ? [child] : leavesOf(child)))
}

function nameOf(command: Known): string {
  const parent = command.parent as Known | null
  return parent === null ? command.name() : `${nameOf(parent)} ${command.name()}`
}

function helpOf(command: Known): string {
  let text = ''
  command.configureOutput({
    writeOut: (part) => {
      text += part
    },
  })
  command.outputHelp()
  return text
}

function silence(command: Known | Program): void {
  command.configureOutput({ writeErr: () => {}, writeOut: () => {}, outputError: () => {} })
  for (const child of command.commands) silence(child)
}
