import type { WireCode } from '../protocol/refusal.ts'
import type { EntryState } from './journal-entry.ts'

/** What the device is told of a recorded command. */
export type WireResult = { readonly ok: true } | { readonly ok: false; readonly code: WireCode }

/**
 * The answer on the wire for a command in `state`: `dispatched` (ok) while it waits, was applied or was taken back
 * by its sender, else the code of its refusal. `dispatched` is a handling receipt, no evidence that anything ran.
 * @see spec/commands.md §2
 */
export function wireResult(state: EntryState): WireResult {
  if (state.state !== 'done') return { ok: true }
  switch (state.outcome) {
    case 'applied':
    case 'cancelled':
      return { ok: true }
    case 'rejected':
      return { ok: false, code: state.reason === 'missing' ? 'forbidden' : state.reason }
    case 'expired':
      return { ok: false, code: 'expired' }
    case 'superseded':
      return { ok: false, code: 'stale' }
  }
}
