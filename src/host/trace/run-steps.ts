import type { TraceStep } from './records.ts'

/** A step before it is stamped with the time. */
export type NewStep = Omit<TraceStep, 'at'>

/** Output as it was delivered: exact bytes, where they stand in the stream, and what was dropped after them. */
export interface DeliveredOutput {
  readonly bytes: Uint8Array
  readonly offset: number
  readonly gaps: readonly { readonly offset: number; readonly bytes: number }[]
}

/** What an adapter kept of standard error. */
export interface KeptErrors {
  readonly text: string
  /** All that was produced, kept or not. */
  readonly bytes: number
  readonly truncated: boolean
}

/** The first step of every turn: what was asked. @see spec/evidence.md §1 */
export function promptStep(prompt: string): NewStep {
  return { source: 'User', message: prompt }
}

/** One correction that this turn takes in. @see spec/turns.md §4 */
export function steerStep(consumed: {
  revision: number
  reason: string
  adapter: string
  acknowledgment: string
}): NewStep {
  return {
    source: 'System',
    message: 'Correction applied at turn start.',
    extensions: { steer_consumed: consumed },
  }
}

export function admittedStep(admission: object): NewStep {
  return { source: 'System', message: 'Run admitted.', extensions: { admission } }
}

export function effectStep(effectId: string): NewStep {
  return { source: 'System', message: 'Effect intent recorded.', extensions: { effect_id: effectId } }
}

/** One non-empty delivery of standard output; a delivery of nothing but gaps is one too. */
export function outputStep(output: DeliveredOutput): NewStep {
  return {
    source: 'System',
    message: lossy.decode(output.bytes),
    extensions: {
      stream: 'stdout',
      offset: output.offset,
      raw_bytes: Array.from(output.bytes),
      gaps: output.gaps.map(({ offset, bytes }) => ({ offset, bytes })),
    },
  }
}

/** Standard error, once, at the end of a process. */
export function errorsStep(kept: KeptErrors): NewStep {
  const message = kept.truncated ? `${kept.text}\n[cut: ${kept.bytes} bytes in total]` : kept.text
  return {
    source: 'System',
    message,
    extensions: { stream: 'stderr', bytes: kept.bytes, truncated: kept.truncated },
  }
}

/**
 * How the command ended. The trace cannot hold its own digest, so the result's is empty here.
 * @param limits what bounded the command, or null when none ran
 */
export function resultStep(result: object, limits: object | null): NewStep {
  return {
    source: 'System',
    message: 'Command ended; not independently checked.',
    extensions: {
      result: { ...result, trace_digest: '' },
      ...(limits === null ? {} : { limits }),
    },
  }
}

const lossy = new TextDecoder('utf-8', { ignoreBOM: true })
