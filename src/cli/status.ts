import { notRunning } from '../bridge/control-call.ts'
import type { ServiceStatus } from '../bridge/operator.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { pause } from '../seams/clock.ts'
import type { Door } from './door.ts'
import { operatorOf } from './operator.ts'
import { type Answer, facts, localTime, table } from './output.ts'

const waitSecondsDefault = 30
const askEveryMs = 100

/**
 * How the service stands.
 * @param wait true or seconds: waits for it to be ready. Refuses `timeout` when it is not by then, `not_running`
 * when there is none.
 */
export async function status(door: Door, wait: number | true | undefined): Promise<Answer> {
  const deadline = door.clock.nowMs() + 1000 * (wait === true ? waitSecondsDefault : (wait ?? 0))
  for (;;) {
    const found = await ask(door)
    if (found !== null && (found.ready || wait === undefined)) return statusAnswer(found)
    if (wait === undefined || door.clock.nowMs() >= deadline) {
      throw found === null ? notRunning() : new Refusal('timeout', 'the service is not ready yet')
    }
    await pause(door.clock, askEveryMs)
  }
}

async function ask(door: Door): Promise<ServiceStatus | null> {
  try {
    return await operatorOf(door).status()
  } catch (error) {
    if (isRefusal(error, 'not_running')) return null
    throw error
  }
}

function statusAnswer(found: ServiceStatus): Answer {
  const tasks = Object.entries(found.tasks ?? { unreadable: 0 }).map(([phase, count]) => `${count} ${phase}`)
  const head = facts([
    ['service', `process ${found.pid}, ${found.ready ? 'ready' : 'starting'}`],
    ['since', localTime(found.started_at)],
    ['host', found.host],
    ['owner', found.owner],
    ['workspaces', found.workspaces.join(', ') || 'none'],
    ['devices', `${found.devices.active} active, ${found.devices.known} known`],
    ['tasks', tasks.join(', ') || 'none'],
    ['commands', `${found.held_commands ?? '?'} held, ${found.undecided_commands ?? '?'} undecided`],
    ...found.tight.map((words) => ['tight', words] as const),
    ...found.faults.map((fault) => ['fault', fault] as const),
  ])
  const rows = found.relays.map((relay) => [
    relay.url,
    relay.state,
    localTime(relay.since),
    relay.last_event === null ? 'never' : localTime(relay.last_event),
    [relay.last_error, relay.note].filter((words) => words !== null).join('; '),
  ])
  return { json: found, text: `${head}${table(['relay', 'state', 'since', 'last event', ''], rows)}` }
}
