import type { QueueView } from '../protocol/outcomes.ts'
import { type Answer, facts, localTime, table } from './output.ts'

/** The messages that wait, in the order they run. */
export function queueAnswer(queue: QueueView): Answer {
  const { lease, items } = queue
  const held = lease === null ? 'nobody' : `${lease.device.slice(0, 12)} until ${localTime(lease.expires_at)}`
  const head = facts([
    ['revision', String(queue.revision)],
    ['held by', held],
  ])
  const rows = items.map((item, at) => [
    String(at + 1),
    item.command,
    item.device.slice(0, 12),
    item.priority ? 'sent now' : '',
    item.text ?? '(of another device)',
  ])
  return {
    json: queue,
    text:
      rows.length === 0
        ? `${head}no messages wait\n`
        : head + table(['', 'command', 'device', '', 'text'], rows),
  }
}
