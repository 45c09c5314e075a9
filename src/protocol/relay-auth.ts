import type { EventTemplate, NostrEvent } from './event.ts'

/** The kind of a proof of identity to a relay (NIP-42). */
export const authKind = 22_242

/**
 * What has to be signed to authenticate to a relay (NIP-42).
 * @param url exactly as dialled: an AUTH for any other relay is never made
 * @param createdAt Unix seconds
 */
export function authTemplate(url: string, challenge: string, createdAt: number): EventTemplate {
  const tags = [
    ['relay', url],
    ['challenge', challenge],
  ]
  return { kind: authKind, created_at: createdAt, tags, content: '' }
}

/** Whether an event answers this challenge of this relay. */
export function isAuthFor(event: NostrEvent, url: string, challenge: string): boolean {
  return event.kind === authKind && tagValue(event, 'relay') === url && challengeOf(event) === challenge
}

/** The challenge that an AUTH, signed or to be signed, answers. */
export function challengeOf(auth: EventTemplate): string | undefined {
  return tagValue(auth, 'challenge')
}

function tagValue({ tags }: EventTemplate, name: string): string | undefined {
  return tags.find((tag) => tag[0] === name)?.[1]
}
