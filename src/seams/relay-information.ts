/** What a relay's HTTP door said: the start of its document, and its clock. */
export type RelayDocument =
  | {
      readonly ok: true
      readonly text: string
      /** The `Date` that it was sent with, milliseconds; null when it had none. */
      readonly dateMs: number | null
    }
  /** Why there is none, in a few words. */
  | { readonly ok: false; readonly reason: string }

/** Asks a relay for its information document (NIP-11), at the address that is dialled. Never rejects; bounded in bytes and time. */
export type AskRelayInformation = (url: string) => Promise<RelayDocument>
