import { readFile } from 'node:fs/promises'
import type { Counted } from '../../src/bridge/counters.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { Operation, OperationOf } from '../../src/protocol/operations.ts'
import type { Right } from '../../src/protocol/rights.ts'
import { rights } from '../../src/protocol/rights.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { randomId, systemRandom } from '../../src/seams/random.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore } from '../../src/store/tasks/store.ts'
import { type BridgeStage, bridgeStage, redeem } from '../support/bridge-stage.ts'
import { keyOf, testKey } from '../support/keys.ts'
import { outcome, refusal } from '../support/results.ts'
import { beginTurn } from '../support/turns.ts'
import { type RequestChanges, type WirePeer, wirePeer } from '../support/wire-peer.ts'

/** A real service behind a real relay, and whoever may earn a refusal of it. */
export interface RefusalStage {
  readonly stage: BridgeStage
  readonly owner: WirePeer
  /** The host key, in somebody else's hands. */
  readonly host: WirePeer
  /** A device with every right. */
  readonly phone: WirePeer
  /** One that may observe and operate. */
  readonly tablet: WirePeer
  readonly stranger: WirePeer
  now(): number
  grantOf(peer: WirePeer): string
  /** A peer that was never heard. */
  fresh(): Promise<WirePeer>
  /** One more device. */
  enrolled(rights?: Right[]): Promise<WirePeer>
  /** Redeems, as the peer; another invitation unless one is given. */
  redeem(peer: WirePeer, op?: OperationOf<'enroll.redeem'>): Promise<void>
  /** A good approval, of a fresh enrollment, for a device that was never heard. */
  approval(): Promise<OperationOf<'enroll.approve'>>
  /** A new task of the phone's. */
  task(): Promise<string>
  /** The one task whose turn runs: its workspace is reserved for it. */
  running(): Promise<string>
  command(task: string, changes?: object): Operation
  /** The code that a request is refused with. */
  refused(peer: WirePeer, op: Operation, changes?: RequestChanges): Promise<string>
  /** Says that an event was counted so, and that nobody heard anything. */
  silence(reason: Counted, event: NostrEvent): Promise<string>
  end(): Promise<void>
}

export async function refusalStage(): Promise<RefusalStage> {
  const stage = await bridgeStage()
  const phone = await stage.device(13, [...rights])
  const tablet = await stage.device(14)
  const [stranger, owner] = [await stage.peer(15), await stage.peer(12)]
  const secret = (await readFile(`${stage.home}/host/host.key`, 'utf8')).trim()
  const known = { host: stage.host, relay: stage.relay.url, clock: systemClock }
  const host = await wirePeer({ key: keyOf(secret), ...known })
  let scalar = 100
  const ends: (() => Promise<void>)[] = []
  const now = () => nowSeconds(systemClock)

  let run: Promise<string> | null = null
  const begin = async (): Promise<string> => {
    const task = await on.task()
    const tasks = await openTaskStore(realDisk, systemClock, `${stage.home}/tasks`)
    const lock = await realDisk.lock(tasks.ownerLockPath(task), 0, { create: true })
    ends.push(() => lock.release())
    await beginTurn(tasks, task, lock)
    await tasks.close()
    return task
  }

  const on: RefusalStage = {
    stage,
    owner,
    host,
    phone,
    tablet,
    stranger,
    now,
    grantOf: (peer) => peer.grant?.grant ?? '',
    fresh() {
      scalar += 1
      return stage.peer(scalar)
    },
    enrolled(given) {
      scalar += 1
      return stage.device(scalar, given)
    },
    async redeem(peer, op) {
      if (op === undefined) peer.grant = await redeem(peer, await stage.invite())
      else outcome(await peer.ask(op, { grant: null, epoch: null }), 'granted')
    },
    async approval() {
      scalar += 1
      const asked: Right[] = ['observe', 'operate']
      const { enrollment, digest, code } = await stage.operator.requestEnrollment({
        rights: asked,
        relay: null,
      })
      return {
        kind: 'enroll.approve',
        enrollment,
        request_digest: digest,
        code,
        device: testKey(scalar).publicKey,
        rights: asked,
        grant_expires_at: now() + 3_600,
      }
    },
    async task() {
      const task = { title: 'Tidy', prompt: 'Sort the entries.', workspace: 'site' }
      return outcome(await phone.ask({ kind: 'task.create', task }), 'dispatched').receipt.reference
    },
    running() {
      run ??= begin()
      return run
    },
    command: (task, changes = {}) => ({
      kind: 'task.command',
      command: {
        command: randomId(systemRandom),
        task,
        action: 'queue',
        based_on: 1,
        text: 'And then the index.',
        emulate: false,
        issued_at: now(),
        ...changes,
      },
    }),
    async refused(peer, op, changes) {
      if (peer !== host) return refusal(await peer.ask(op, changes))
      // Whoever has the host key hears what it sends itself, before the answer.
      const { request, event } = peer.sign(op, changes)
      peer.send(event)
      return refusal(peer.open(await peer.replyTo(request, 1)).result)
    },
    async silence(reason, event) {
      const before = await stage.counted(reason)
      phone.send(event)
      await stage.untilCounted(reason, before + 1)
      const mailbox = event.tags.find((tag) => tag[0] === 'h')?.[1] ?? ''
      const answers = [phone, tablet, stranger, owner, host].flatMap(({ events }) =>
        events.filter(({ id, tags }) => id !== event.id && tags.some((tag) => tag[1] === mailbox)),
      )
      return answers.length > 0 ? 'an answer' : `nothing ${reason}`
    },
    async end() {
      for (const end of ends) await end()
      host.close()
      await stage.end()
    },
  }
  return on
}
