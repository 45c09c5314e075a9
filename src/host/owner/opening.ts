import { steeringRow } from '../steering.ts'
import { admittedStep, promptStep, steerStep } from '../trace/run-steps.ts'
import type { TraceWriter } from '../trace/writer.ts'
import type { Admitted } from './admit.ts'

/**
 * Writes the steps with which every turn begins: what was asked, each correction that it consumes, and the admission.
 * @see spec/evidence.md §1, spec/turns.md §4
 */
export async function appendOpening(trace: TraceWriter, admitted: Admitted): Promise<void> {
  const { admission, steers } = admitted
  await trace.step(promptStep(admission.context.prompt))
  const { adapter, acknowledgment } = steeringRow(admission.adapter)
  for (const { revision, reason } of steers) {
    await trace.step(steerStep({ revision, reason, adapter, acknowledgment }))
  }
  await trace.step(admittedStep(admission))
}
