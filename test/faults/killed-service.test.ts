import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Going, startProgram } from '../support/door.ts'
import { answeredTwice, correctionsOf, createTasks, journalOf, settled } from './hostile-commands.ts'
import { type HostileStage, hostileStage, type StagedDevice } from './hostile-stage.ts'

let stage: HostileStage
let phone: StagedDevice
let task: string
let service: Going | null = null

beforeEach(async () => {
  stage = await hostileStage(20_261_207)
  await stage.start()
  phone = await stage.device(1_500)
  ;[task = ''] = await createTasks(phone, 1)
  await stage.stop()
})
afterEach(async () => {
  await service?.stop('SIGKILL')
  await stage.end()
})

async function serve(): Promise<Going> {
  service = startProgram(stage.home, ['serve', '--loopback-test', '--log-level', 'warn', '--json'])
  await service.firstLine
  return service
}

/** Milliseconds from the arrival of a request at the relay to the end of the service; null: at its answer. */
const moments = [null, 0, 2, 4, 6, 9, 13, null]

describe('a service that is killed while a command is under way', () => {
  it('has carried it out once when the device that goes on asking is told so, whenever it was killed', async () => {
    const { archive, faults } = stage.relay
    faults.victim = (author) => author === stage.host
    for (const [round, moment] of moments.entries()) {
      const running = await serve()
      const killed = new Promise<void>((resolve) => {
        const kill = () => resolve(running.stop('SIGKILL').then(() => undefined))
        // No answer gets through before the kill.
        faults.odds = { drop: 1 }
        archive.onShown = (event) => {
          const asks = event.pubkey === phone.key && isRequest(event)
          if (moment === null ? event.pubkey === stage.host && answers(event) : asks)
            setTimeout(kill, moment ?? 0)
        }
      })
      const sent = phone.device.command({ task, action: 'steer', text: `Round ${round}.`, based_on: 1 })
      await killed
      expect((await sent).state).toBe('unknown')
      archive.onShown = () => {}
      faults.odds = {}
      const again = await serve()
      await settled(phone)
      expect((await phone.device.outbox()).at(-1)?.state).toBe('accepted')
      await again.stop()
    }
    const texts = moments.map((_, round) => `Round ${round}.`)
    expect((await correctionsOf(stage)).get(task)).toEqual(texts)
    expect((await journalOf(stage)).map(({ request }) => request.text)).toEqual(texts)
    // A killed host may sign an answer again; it never says anything else.
    expect((await answeredTwice(stage, [phone])).filter((about) => about.startsWith('request'))).toEqual([])
  }, 120_000)
})

type Tagged = { readonly tags: readonly string[][] }
const mailboxOf = ({ tags }: Tagged) => tags.find((tag) => tag[0] === 'h')?.[1] ?? ''

/** What a device publishes in a mailbox of its own; its nudges all share one. */
function isRequest(event: Tagged): boolean {
  const { shown } = stage.relay.archive
  const before = shown.filter((one) => one.pubkey === phone.key && mailboxOf(one) === mailboxOf(event))
  return new Set(before.map(({ id }) => id)).size === 1
}

function answers(event: Tagged): boolean {
  const { shown } = stage.relay.archive
  return shown.some((one) => one.pubkey === phone.key && mailboxOf(one) === mailboxOf(event))
}
