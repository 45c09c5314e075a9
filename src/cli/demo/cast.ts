import { type CliChild, type CliEnd, runCli, spawnCli } from '../../host/helper/spawn-cli.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { type Clock, pause } from '../../seams/clock.ts'
import type { Stage } from './stage.ts'

/** The demo's children: every one is this same command line, in a process of its own. */
export interface Cast {
  /** Runs a command with `--json` to its end and reads what it printed. Refuses `io` with what it said. */
  ask(args: readonly string[], input?: string): Promise<Printed>
  /** Starts a command that goes on; it is stopped at the end. */
  begin(args: readonly string[]): CliChild
  /** Asks again and again until `is` says so, at most `seconds`. Refuses `timeout`, saying what was waited for. */
  until(what: string, args: readonly string[], is: (printed: Printed) => boolean): Promise<Printed>
  /** From now on nothing new is started for the story, and what runs is waited for. */
  close(): Promise<void>
  /** Runs a command even after `close`, whatever comes of it. */
  tidy(args: readonly string[], input?: string): Promise<Printed | null>
  /** Stops what `begin` started, newest first. */
  stop(): Promise<void>
}

/** What a child printed, as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: output of our own commands, looked at by name
export type Printed = Readonly<Record<string, any>>

const waitSeconds = 20
const askEveryMs = 100

/** Gathers the children for a stage. */
export function gatherCast(stage: Stage, clock: Clock): Cast {
  const env = { DRAWBRIDGE_HOME: stage.home }
  const going: CliChild[] = []
  const asking = new Set<Promise<CliEnd>>()
  let closed = false

  const run = async (args: readonly string[], input?: string): Promise<CliEnd> => {
    const end = runCli([...args, '--json'], input === undefined ? { env } : { env, input })
    asking.add(end)
    try {
      return await end
    } finally {
      asking.delete(end)
    }
  }
  const ask = async (args: readonly string[], input?: string): Promise<Printed> => {
    if (closed) throw new Refusal('interrupted', 'the demo is over')
    return read(args, await run(args, input))
  }
  return {
    ask,
    begin(args) {
      if (closed) throw new Refusal('interrupted', 'the demo is over')
      const child = spawnCli(args, { env })
      going.unshift(child)
      return child
    },
    async until(what, args, is) {
      const deadline = clock.nowMs() + waitSeconds * 1000
      for (;;) {
        const printed = await ask(args)
        if (is(printed)) return printed
        if (clock.nowMs() > deadline) throw new Refusal('timeout', `waited ${waitSeconds} s for ${what}`)
        await pause(clock, askEveryMs)
      }
    },
    async close() {
      closed = true
      await Promise.allSettled([...asking])
    },
    async tidy(args, input) {
      const end = await run(args, input)
      return end.code === 0 ? read(args, end) : null
    },
    async stop() {
      for (const child of going.splice(0)) await child.stop()
    },
  }
}

function read(args: readonly string[], end: CliEnd): Printed {
  const words = args.slice(0, 2).join(' ')
  if (end.code !== 0) {
    throw new Refusal(
      'io',
      `drawbridge ${words} exited ${end.code}: ${end.stderr.trim() || 'without a word'}`,
    )
  }
  return JSON.parse(end.stdout) as Printed
}
