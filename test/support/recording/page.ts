import { counted } from '../../../src/bridge/counters.ts'
import type { JsonObject } from '../../../src/protocol/json-value.ts'
import { type OperationKind, operationRows } from '../../../src/protocol/operations.ts'
import { wireCodes } from '../../../src/protocol/refusal.ts'
import { type Fixture, jsonText, type Reply, type Step } from './fixture.ts'

/** One way to earn a refusal or a silence, and the exchanges that show it. */
export interface Earning {
  /** `refused CODE`, `nothing REASON`. */
  readonly earns: string
  readonly why: string
  readonly fixtures: readonly string[]
}

/** The parts of the protocol page that are made from the recorded exchanges, by name. */
export function recordedParts(fixtures: readonly Fixture[]): ReadonlyMap<string, string> {
  const worked = fixtures.find(({ name }) => name === 'worked-exchange')
  if (worked === undefined) throw new Error('the worked exchange is not recorded')
  const earnings = earningsOf(fixtures)
  return new Map([
    ['operations', operationsTable()],
    ['exchange', exchangeText(worked)],
    ['refusals', earningsTable(earnings, 'refused', wireCodes, 'refusal')],
    ['silences', earningsTable(earnings, 'nothing', counted, 'counted as')],
  ])
}

/** The page with its recorded parts made anew. */
export function withRecordedParts(page: string, parts: ReadonlyMap<string, string>): string {
  return page.replace(
    /(<!-- recorded: ([a-z]+) -->\n)[\s\S]*?(\n<!-- \/recorded -->)/g,
    (_whole, begin: string, name: string, end: string) => {
      const part = parts.get(name)
      if (part === undefined) throw new Error(`nothing is recorded as ${name}`)
      return `${begin}\n${part}\n${end}`
    },
  )
}

/** Every refusal and every silence that the exchanges show, with what earned it; each once. */
export function earningsOf(fixtures: readonly Fixture[]): Earning[] {
  const found = new Map<string, Earning>()
  for (const { name, steps } of fixtures) {
    for (const step of steps) {
      for (const earns of refusalsOf(step)) {
        const why = 'why' in step ? (step.why ?? '') : ''
        const key = `${earns}\0${why}`
        const before = found.get(key)?.fixtures ?? []
        found.set(key, { earns, why, fixtures: [...before.filter((other) => other !== name), name] })
      }
    }
  }
  return [...found.values()]
}

/** The refusals and silences among what a step earned; one for each reason. */
function refusalsOf(step: Step): string[] {
  const earned = 'earns' in step ? (step.earns ?? '') : ''
  return earned.split(', ').flatMap((item) => {
    const [, refusal] = /^(?:\d+ )?(refused .*)$/.exec(item) ?? []
    if (refusal !== undefined) return [refusal]
    const [, reasons] = /^nothing (.*)$/.exec(item) ?? []
    return (reasons ?? '').split(' ').flatMap((reason) => (reason === '' ? [] : [`nothing ${reason}`]))
  })
}

function earningsTable(
  earnings: readonly Earning[],
  verb: string,
  order: readonly string[],
  head: string,
): string {
  const rows = order.flatMap((word) =>
    earnings
      .filter(({ earns }) => earns.split(' ')[0] === verb && earns.split(' ')[1] === word)
      .map(({ earns, why, fixtures }) => {
        const links = fixtures.map((name) => `[${name}](../relay-fixtures/${name}.json)`)
        return `| \`${earns.slice(verb.length + 1)}\` | ${why} | ${links.join(', ')} |`
      }),
  )
  return [`| ${head} | what earns it | recorded in |`, '| --- | --- | --- |', ...rows].join('\n')
}

function operationsTable(): string {
  const rows = (Object.keys(operationRows) as OperationKind[]).map((kind) => {
    const { right, outcome, retained } = operationRows[kind]
    const answer = outcome === null ? 'always `unavailable`' : `\`${outcome}\``
    return `| \`${kind}\` | ${right === null ? 'none' : `\`${right}\``} | ${answer} | ${retained ? 'yes' : 'no'} |`
  })
  return ['| operation | right | outcome | answer kept |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

/** The exchange as a conversation: whole at first, then only what is new in each body. */
function exchangeText({ start, steps, replies }: Fixture): string {
  const parts: string[] = []
  let first = true
  for (const [index, step] of steps.entries()) {
    const time = `+${step.at - start.at} s`
    if (step.do === 'operator') {
      const { code } = step.gives as { code: string }
      parts.push(`**${time}, at the host.** The operator invites, and shows`, fenced(code))
    }
    if (step.do !== 'deliver' || !('opened' in step) || step.opened === null) continue
    const { op } = step.opened as { op: JsonObject }
    const reply = replies.find((other) => other.step === index + 1)
    if (first) {
      parts.push(`**${time}, the device** publishes an event`, json(shortened(step.event)))
      parts.push('whose content holds, in its envelope, the request', json(step.opened))
      parts.push('**The host** answers in the same mailbox with', json(shortened(reply?.opened)))
      parts.push('whose authorization holds the grant', json(reply?.grant))
    } else {
      parts.push(`**${time}, the device** asks, under its grant,`, json(op))
      parts.push('and **the host** answers', json(resultOf(reply)))
    }
    first = false
  }
  return parts.join('\n\n')
}

function resultOf(reply: Reply | undefined): unknown {
  return typeof reply?.opened === 'object' ? reply.opened['result'] : undefined
}

/** A value whose sealed content is cut: it is whole in the file. */
function shortened(value: unknown): unknown {
  const text = JSON.stringify(value, (name, inner) =>
    name === 'content' && typeof inner === 'string' ? `${inner.slice(0, 32)}…` : inner,
  )
  return JSON.parse(text)
}

function json(value: unknown): string {
  return fenced(jsonText(value), 'json')
}

function fenced(text: string, language = 'text'): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}
