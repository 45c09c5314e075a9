import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BunkerSigner, parseBunkerInput } from 'nostr-tools/nip46'
import { SimplePool, useWebSocketImplementation } from 'nostr-tools/pool'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { openVerified } from '../../src/protocol/envelope.ts'
import { conversationKey, encrypt } from '../../src/protocol/nip44.ts'
import { sealBy } from '../../src/protocol/sealer.ts'
import { verifyEvent } from '../../src/protocol/signer.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { startBunker } from '../support/bunker.ts'
import { testKey } from '../support/keys.ts'
import { refused } from '../support/refusals.ts'
import { bunker, dir, hasty, instead, open, peer, relay, sockets, template, told } from './signer-stage.ts'

describe('the bunker of these tests', () => {
  it('is one to a client of another hand', async () => {
    const input = await parseBunkerInput(bunker.url)
    if (input === null) throw new Error('not read')
    useWebSocketImplementation(WebSocket)
    const pool = new SimplePool()
    const client = BunkerSigner.fromBunker(new Uint8Array(32).fill(7), input, { pool })
    await client.connect()
    expect(await client.getPublicKey()).toBe(bunker.user)
    const signed = await client.signEvent(template)
    expect([signed.pubkey, signed.content, verifyEvent({ ...signed })]).toEqual([bunker.user, 'x', true])
    await client.close()
    pool.close([relay.url])
  })
})

describe('a remote signer', () => {
  it('signs, seals and opens with a key that never leaves it', async () => {
    const owner = await open()
    expect(owner.publicKey).toBe(bunker.user)
    expect(await owner.sign(template)).toMatchObject({ ...template, pubkey: bunker.user })

    const body = { v: 'test.v1', text: 'lower it' }
    const place = { recipient: peer.publicKey, mailbox: '5a'.repeat(32), issuedAt: 100, retainUntil: 160 }
    const event = await sealBy(owner, { ...place, body })
    expect(openVerified(event, peer.publicKey, peer.with)).toMatchObject({ author: bunker.user, body })

    const back = encrypt('Zugbrücke', conversationKey(peer.secret, bunker.user), systemRandom.bytes(32))
    expect(new TextDecoder().decode(await owner.decrypt(peer.publicKey, back))).toBe('Zugbrücke')
  })

  it('asks to be let in once, for all that it will need, and is known by its kept key from then on', async () => {
    const first = await open()
    first.close()
    const again = await open()
    expect(again.publicKey).toBe(bunker.user)
    expect([bunker.asked('connect'), bunker.asked('get_public_key')]).toEqual([1, 2])
    expect(new Set(bunker.requests.map(({ client }) => client)).size).toBe(1)
    const [connect] = bunker.requests
    expect(connect?.params).toEqual([
      bunker.remote,
      bunker.secret,
      'sign_event:3188,sign_event:22242,nip44_encrypt,nip44_decrypt',
    ])
    const [name] = await readdir(join(dir, 'remote-signer'))
    const path = join(dir, 'remote-signer', String(name))
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const kept = await readFile(path, 'utf8')
    expect(kept).not.toContain(bunker.secret)
  })

  it('connects anew where the signer has forgotten the client', async () => {
    const first = await open()
    first.close()
    bunker.forgetClients()
    expect((await open()).publicKey).toBe(bunker.user)
    expect(bunker.requests.slice(2).map(({ method }) => method)).toEqual([
      'get_public_key',
      'connect',
      'get_public_key',
    ])
  })

  it('is another client to each signer', async () => {
    const other = await startBunker(relay.url, { remote: 22, user: 14 })
    await open()
    expect((await open(other.url)).publicKey).toBe(other.user)
    expect(other.requests[0]?.client).not.toBe(bunker.requests[0]?.client)
    other.close()
  })

  it('does not take a kept file that is none, nor write over it', async () => {
    const first = await open()
    first.close()
    const path = join(dir, 'remote-signer', `${bunker.remote}.json`)
    await writeFile(path, '{"schema":"drawbridge.remote-signer.v1"}')
    await refused('malformed', () => open())
    expect(await readFile(path, 'utf8')).toBe('{"schema":"drawbridge.remote-signer.v1"}')
  })

  it('sends the person to a page when the signer wants that, once, and goes on waiting', async () => {
    const page = 'https://signer.example/approve?request=7'
    bunker.answer = async (request) => {
      if (request.method === 'connect') {
        bunker.say(request.client, { id: request.id, result: 'auth_url', error: page })
        bunker.say(request.client, { id: request.id, result: 'auth_url', error: page })
        await new Promise((resolve) => setTimeout(resolve, 400))
      }
      return bunker.usual(request)
    }
    // Its minute is over before the person has been there; it waits for five then.
    expect((await open(bunker.url, hasty)).publicKey).toBe(bunker.user)
    expect(told).toEqual([`the remote signer asks you to open ${page}`])
  })

  it('says with the words of the signer that it does not want to', async () => {
    const signer = await open()
    instead('sign_event', { error: 'not\u001b[2J today\n'.padEnd(900, 'x') })
    const { message } = await refused('denied', signer.sign(template))
    expect(message).toMatch(/^the remote signer refused sign_event: not \[2J today x+…$/)
    expect(message.length).toBeLessThan(260)
  })

  it('never repeats its secret, also when the signer does', async () => {
    bunker.answer = () => ({ error: `no such secret: ${bunker.secret}!` })
    const { message } = await refused('denied', () => open())
    expect(message).toBe('the remote signer refused connect: no such secret: …!')
    bunker.answer = ({ client, id }) => {
      bunker.say(client, { id, result: 'auth_url', error: `https://signer.example/?s=${bunker.secret}` })
      return null
    }
    await refused('malformed', () => open())
    expect(told).toEqual([])
  })

  it('is given up after a minute of silence', async () => {
    instead('connect', null)
    const { message } = await refused('timeout', () => open(bunker.url, hasty))
    expect(message).toBe('the remote signer did not answer connect in 60 s')
  })

  it('says what was wrong with its relay when that is why', async () => {
    const url = bunker.url.replace(encodeURIComponent(relay.url), encodeURIComponent('ws://127.0.0.1:9'))
    const { message } = await refused('timeout', () => open(url, hasty))
    expect(message).toContain('a relay could not be used')
  })

  it('does not hear answers to other requests, from other keys, or to other clients', async () => {
    const signer = await open()
    const stranger = await startBunker(relay.url, { remote: 23 })
    bunker.answer = (request) => {
      const { client, id } = request
      stranger.say(client, { id, error: 'I refuse in its name' })
      bunker.say(client, { id: 'another', error: 'to nobody' })
      bunker.say(testKey(33).publicKey, 'not for you')
      return bunker.usual(request)
    }
    expect(await signer.sign(template)).toMatchObject({ pubkey: bunker.user })
    stranger.close()
  })

  it('refuses what other signers could not decrypt, with the numbers, and asks nothing', async () => {
    const signer = await open()
    const before = bunker.requests.length
    const { message } = await refused('bounds', signer.encrypt(peer.publicKey, '"'.repeat(40_000)))
    expect(message).toMatch(/^a request of 80\d\d\d bytes to the remote signer is over 65535$/)
    expect(bunker.requests.length).toBe(before)
  })

  it('comes through a relay that went away and came back', async () => {
    const signer = await open()
    bunker.answer = () => {
      bunker.answer = bunker.usual
      // It never answers this one; the client's connection is cut, and the request comes again over the next.
      for (const socket of sockets) socket.close()
      return null
    }
    expect(await signer.sign(template)).toMatchObject({ pubkey: bunker.user })
  })
})
