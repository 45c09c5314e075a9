import type { PublishOutcome } from '../protocol/relay-session.ts'

/**
 * What became of an event that was published on several relays at once: accepted as soon as more than half of them took
 * it, else unknown once all have spoken. One that is mute holds nothing up once the others are enough; none at all is
 * unknown. A single relay's word stands as it is.
 */
export async function quorumOf(published: readonly Promise<PublishOutcome>[]): Promise<PublishOutcome> {
  const [only] = published
  if (only !== undefined && published.length === 1) return only
  const needed = Math.floor(published.length / 2) + 1
  return new Promise((resolve) => {
    let accepted = 0
    const hear = (outcome: PublishOutcome): void => {
      if (outcome.outcome !== 'accepted') return
      accepted += 1
      if (accepted === needed) resolve(outcome)
    }
    const all = published.map((one) => one.then(hear, () => {}))
    void Promise.all(all).then(() => resolve({ outcome: 'unknown' }))
  })
}
