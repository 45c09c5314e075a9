import { isRefusal } from '../../protocol/refusal.ts'
import { authKind } from '../../protocol/relay-auth.ts'
import type { Sealer } from '../../protocol/sealer.ts'

/** The owner's key, and why it did not let us prove to a relay who we are, in words; null while it does. */
export interface SteadySigner {
  readonly sealer: Sealer
  why(): string | null
}

/**
 * The same key, but a signer that once did not sign an AUTH is not asked for another: a relay is dialled again and
 * again while there is time, and each new connection would ask its person anew.
 */
export function steadySigner(sealer: Sealer): SteadySigner {
  let refused: Error | null = null
  return {
    why: () => refused?.message ?? null,
    sealer: {
      ...sealer,
      async sign(template) {
        if (template.kind !== authKind) return sealer.sign(template)
        if (refused !== null) throw refused
        try {
          return await sealer.sign(template)
        } catch (error) {
          if (isRefusal(error)) refused = error
          throw error
        }
      },
    },
  }
}
