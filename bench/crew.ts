import type { FleetDevice, Signed } from './fleet.ts'
import { quantile } from './measure.ts'

/** One answer as it came; read and judged later, so that this takes no time from what is measured. */
export interface Answered {
  readonly device: FleetDevice
  readonly kind: string
  readonly text: string
  /** From sending to the arrival of the answer. */
  readonly ms: number
}

/** Each device sends its requests one after the other, all devices at once. */
export async function everyone(
  crew: readonly FleetDevice[],
  ahead: readonly (readonly Signed[])[],
): Promise<Answered[]> {
  const answers: Answered[] = []
  await Promise.all(
    crew.map(async (device, index) => {
      for (const signed of ahead[index] ?? []) {
        const start = performance.now()
        const text = await device.send(signed)
        answers.push({ device, kind: signed.kind, text, ms: performance.now() - start })
      }
    }),
  )
  return answers
}

/** Verifies and reads every answer; throws at the first that is not a yes. */
export function checkAnswers(answers: readonly Answered[]): void {
  for (const { device, kind, text } of answers) {
    const result = device.read(text)
    if (result.status !== 'ok') throw new Error(`${kind}: ${JSON.stringify(result)}`)
  }
}

/** `task.read 3.1 ms, …`: the median of each kind. */
export function mediansByKind(answers: readonly Answered[]): string {
  const kinds = [...new Set(answers.map(({ kind }) => kind))].sort()
  const medianOf = (kind: string) =>
    quantile(
      answers.flatMap((answer) => (answer.kind === kind ? [answer.ms] : [])),
      0.5,
    )
  return kinds.map((kind) => `${kind} ${medianOf(kind).toFixed(1)}`).join(', ')
}
