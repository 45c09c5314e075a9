import type { Refusal } from '../../protocol/refusal.ts'
import type { CommandSender, Identity } from './identities.ts'

/** A command id that a sender wants to be accepted under. */
export interface Wish {
  readonly identity: Identity
  readonly sender: CommandSender
}

/** What became of a wish: null, or why it was not granted. */
export type Granted = Refusal | null

interface Waiting extends Wish {
  readonly granted: () => void
  readonly refused: (reason: unknown) => void
}

/**
 * Lets wishes share a write: whatever is wished for while one write syncs joins the next, which takes the store's lock
 * once for all of them.
 * @param grant judges wishes in their order and makes the granted ones durable; what it throws reaches everyone whose
 * wish it had
 */
export function sharedReservations(
  grant: (wishes: readonly Wish[]) => Promise<Granted[]>,
): (identity: Identity, sender: CommandSender) => Promise<void> {
  let waiting: Waiting[] = []
  let writing = false

  const write = async (): Promise<void> => {
    writing = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        const outcomes = await grant(batch)
        batch.forEach(({ granted, refused }, index) => {
          const refusal = outcomes[index] ?? null
          if (refusal === null) granted()
          else refused(refusal)
        })
      } catch (error) {
        for (const { refused } of batch) refused(error)
      }
    }
    writing = false
  }

  return (identity, sender) =>
    new Promise((granted, refused) => {
      waiting.push({ identity, sender, granted, refused })
      if (!writing) void write()
    })
}
