import type { RenderedStep } from '../host/trace/render.ts'
import { colours } from './output.ts'
import { printable, printableBlock } from './printable.ts'

/** Trace steps for a person: number, source, and what was said or printed; steps without a word are left out. */
export function stepsText(steps: readonly RenderedStep[]): string {
  return steps.map(stepText).join('')
}

function stepText(step: RenderedStep): string {
  if (step.message === '') return ''
  const stream = step.extra?.['stream']
  const who = typeof stream === 'string' ? stream : step.source
  const head = colours.dim(`${String(step.step_id).padStart(3)} ${printable(who).padEnd(7)}`)
  const lines = printableBlock(step.message).replace(/\n$/, '').split('\n')
  return `${lines.map((line, at) => (at === 0 ? `${head} ${line}` : `            ${line}`)).join('\n')}\n`
}
