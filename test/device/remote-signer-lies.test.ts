import { describe, it } from 'vitest'
import type { BunkerAnswer } from '../support/bunker.ts'
import { refused } from '../support/refusals.ts'
import { bunker, instead, open, peer, template } from './signer-stage.ts'

describe('a remote signer', () => {
  const signed = (changes: object) => () => ({
    result: JSON.stringify(bunker.signAsUser({ ...template, ...changes })),
  })
  const forged = (changes: object) => () => ({
    result: JSON.stringify({ ...bunker.signAsUser(template), ...changes }),
  })

  it.each<[string, () => BunkerAnswer]>([
    ['another kind', signed({ kind: 1 })],
    ['another time', signed({ created_at: 1 })],
    ['other tags', signed({ tags: [] })],
    ['other content', signed({ content: 'y' })],
    ['another key', () => ({ result: JSON.stringify(peer.signer.sign(template)) })],
    ['another signature', forged({ sig: '0'.repeat(128) })],
    ['another ID', forged({ id: '0'.repeat(64) })],
    ['half an event', () => ({ result: '{"kind":3188}' })],
    ['no JSON', () => ({ result: 'signed!' })],
    ['an object for text', () => ({ result: { ...bunker.signAsUser(template) } })],
    ['neither result nor error', () => ({})],
    ['no answer at all', () => 'garbage'],
  ])('is not believed when it signs with %s', async (_, answer) => {
    const signer = await open()
    instead('sign_event', answer)
    await refused('malformed', signer.sign(template))
  })

  it.each<[string, string, BunkerAnswer]>([
    ['connect', 'a secret that is not ours', { result: 'welcome' }],
    ['get_public_key', 'no key', { result: 'f'.repeat(64) }],
  ])('is not believed when %s gives %s', async (method, _, answer) => {
    instead(method, answer)
    await refused('malformed', () => open())
  })

  it.each(['', 'not base64 at all!', 'AgAA'])('is not believed when it encrypts to %j', async (result) => {
    const signer = await open()
    instead('nip44_encrypt', { result })
    await refused('malformed', signer.encrypt(peer.publicKey, 'text'))
  })
})
