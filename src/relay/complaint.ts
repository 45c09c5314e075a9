/**
 * What to say of a frame that could not be read. A client that waits for an answer about an event or a subscription
 * gets it under that name, where one can be made out; a NOTICE could not be matched to anything.
 */
export function complaintAbout(text: string): readonly unknown[] {
  const reason = 'invalid: not a frame that this relay reads'
  const subscription = /^\s*\[\s*"(?:REQ|COUNT)"\s*,\s*"([^"\\]{1,64})"/.exec(text)?.[1]
  if (subscription !== undefined) return ['CLOSED', subscription, reason]
  const event = /^\s*\[\s*"(?:EVENT|AUTH)"\s*,/.test(text)
    ? /"id"\s*:\s*"([0-9a-f]{64})"/.exec(text)?.[1]
    : undefined
  if (event !== undefined) return ['OK', event, false, reason]
  return ['NOTICE', reason]
}
