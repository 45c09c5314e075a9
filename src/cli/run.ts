import { CommanderError } from 'commander'
import { endOnInterrupt, outputFailure, outputRefusal, watchOutput } from './door.ts'
import { exitCodeOf, refusalText } from './output.ts'
import { buildProgram } from './program.ts'

/** Exit codes. @see spec/cli.md */
const success = 0
const usage = 64

/** Runs one command line to its end and leaves with its exit code. */
export async function run(words: readonly string[]): Promise<void> {
  endOnInterrupt()
  const asJson = words.includes('--json') || firstOperand(words) === 'task'
  watchOutput()
  const code = await runTo(words, asJson)
  // The last write also says whether all of them arrived.
  process.stdout.write('', (error) => {
    const failure = outputFailure() ?? error ?? null
    if (failure === null || code !== success) process.exit(code)
    process.stderr.write(refusalText(outputRefusal(failure), asJson))
    process.exit(1)
  })
}

async function runTo(words: readonly string[], asJson: boolean): Promise<number> {
  const program = await buildProgram(words)
  try {
    await program.parseAsync([...words], { from: 'user' })
    return typeof process.exitCode === 'number' ? process.exitCode : success
  } catch (error) {
    if (error instanceof CommanderError) return usageEnd(error)
    process.stderr.write(refusalText(error, asJson))
    return exitCodeOf(error)
  }
}

/** The command's first word: what comes before it can only be an option of the program. */
function firstOperand(words: readonly string[]): string | undefined {
  const at = words.findIndex((word, index) => !word.startsWith('-') && words[index - 1] !== '--home')
  return words[at]
}

/** Help that was asked for is a success; anything that commander refuses is a usage error. */
function usageEnd(error: CommanderError): number {
  return error.code === 'commander.helpDisplayed' || error.code === 'commander.version' ? success : usage
}
