import type { Command } from '@commander-js/extra-typings'
import { declare, group, type Parent } from '../declare.ts'
import { answer } from '../door.ts'
import { anyText, anyWholeNumber, word } from '../options.ts'

const store = ['--store <dir>', 'the task store (default HOME/tasks)'] as const

/** `drawbridge task …`: the local task store. Refusals here are always JSON. @see spec/task-cli.md */
export function addTask(program: Parent): void {
  const task = group(program, 'task', 'the local task store', 'drawbridge task list')
  task.configureOutput({
    outputError: (text, write) => write(text.replace(/^error: /, 'drawbridge task: ')),
  })
  task.showHelpAfterError(true)
  addCommands(task)
  addReaders(task)
  addRuns(task)
  addArchive(task)
}

function addCommands(task: Command): void {
  const kinds = [
    ['submit', 'a new task'],
    ['cancel', 'asks the task to stop'],
    ['correct', 'corrects the task; what runs now stops'],
    ['continue', 'the next turn of a finished task'],
  ] as const
  for (const [action, what] of kinds) {
    declare(
      task,
      action,
      `${what}, from a task command in a file; prints its receipt`,
      `drawbridge task ${action} --file ${action}.json`,
    )
      .requiredOption('--file <path>', 'the command, or - for standard input', word)
      .option(...store, word)
      .action(async (options, command) => {
        await answer(command, async (door) => {
          const { applyFile } = await import('../task/apply-file.ts')
          return applyFile(door, action, options)
        })
      })
  }
}

function addReaders(task: Command): void {
  declare(task, 'list', 'every task, a line each', 'drawbridge task list --json')
    .option(...store, word)
    .action(async (options, command) => {
      await answer(command, async (door) => (await import('../task/read.ts')).list(door, options))
    })
  declare(task, 'show', 'one task whole', 'drawbridge task show task-1')
    .argument('<task>')
    .option(...store, word)
    .action(async (id, options, command) => {
      await answer(command, async (door) => (await import('../task/read.ts')).show(door, id, options))
    })
  declare(task, 'view', "the current turn's evidence", 'drawbridge task view task-1 --limit 50')
    .argument('<task>')
    .option('--limit <n>', 'steps on a page, 1 to 200 (default 100)', anyWholeNumber)
    .option('--cursor <json>', 'where the last page ended', anyText)
    .option(...store, word)
    .action(async (id, options, command) => {
      await answer(command, async (door) =>
        (await import('../task/evidence.ts')).view(door, id, options, command),
      )
    })
  declare(
    task,
    'artifact',
    'a file that the turn left, from its kept copy',
    'drawbridge task artifact task-1 --path list.txt',
  )
    .argument('<task>')
    .requiredOption('--path <rel>', 'its path in the workspace', anyText)
    .option(...store, word)
    .action(async (id, options, command) => {
      await answer(command, async (door) => (await import('../task/evidence.ts')).artifact(door, id, options))
    })
  declare(task, 'follow', 'prints new steps until the turn ends', 'drawbridge task follow task-1')
    .argument('<task>')
    .option(...store, word)
    .action(async (id, options, command) => {
      await answer(command, async (door) => (await import('../task/follow.ts')).follow(door, id, options))
    })
}

function addRuns(task: Command): void {
  declare(
    task,
    'start',
    'starts the turn that a grant allows, and returns',
    'drawbridge task start --grant grant.json',
  )
    .requiredOption('--grant <file>', 'the execution grant', word)
    .option(...store, word)
    .action(async (options, command) => {
      await answer(command, async (door) => (await import('../task/runs.ts')).start(door, options))
    })
  declare(
    task,
    'execute',
    'runs the turn that a grant allows to its end',
    'drawbridge task execute --grant grant.json',
  )
    .requiredOption('--grant <file>', 'the execution grant, or - for standard input', word)
    .option(...store, word)
    .action(async (options, command) => {
      await answer(command, async (door) => (await import('../task/runs.ts')).execute(door, options))
    })
  declare(task, 'recover', 'closes a turn whose owner is gone', 'drawbridge task recover task-1')
    .argument('<task>')
    .option(...store, word)
    .action(async (id, options, command) => {
      await answer(command, async (door) => (await import('../task/runs.ts')).recover(door, id, options))
    })
  declare(task, 'settle', 'ends every turn whose processes are all gone', 'drawbridge task settle')
    .argument('[task]')
    .option(...store, word)
    .action(async (id, options, command) => {
      await answer(command, async (door) => (await import('../task/runs.ts')).settle(door, id, options))
    })
}

function addArchive(task: Command): void {
  declare(
    task,
    'archive',
    'hides a finished task from devices',
    "drawbridge task archive task-1 --reason 'done'",
  )
    .argument('<task>')
    .requiredOption('--reason <text>', 'why, one line', anyText)
    .option(...store, word)
    .action(async (id, options, command) => {
      await answer(command, async (door) => (await import('../task/archive.ts')).archive(door, id, options))
    })
  declare(task, 'restore', 'shows an archived task again', 'drawbridge task restore task-1')
    .argument('<task>')
    .option(...store, word)
    .action(async (id, options, command) => {
      await answer(command, async (door) => (await import('../task/archive.ts')).restore(door, id, options))
    })
}
