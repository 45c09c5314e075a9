import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { check, invitation, open, seal } from '../../src/cli/protocol.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { JsonObject } from '../../src/protocol/json-value.ts'
import { isRefusal } from '../../src/protocol/refusal.ts'
import { loadFastCrypto } from '../../src/protocol/signer.ts'
import { bodyNameOf } from '../support/host-fixtures.ts'
import { everyFixture } from '../support/recording/files.ts'
import { cast, type Fixture, type Name } from '../support/recording/fixture.ts'
import { keyOf } from '../support/recording/fresh-host.ts'
import { tempDir } from '../support/temp-dir.ts'

/** A body of an exchange: who sent it to whom, in which event, and what it earned. */
interface Said {
  readonly from: Name
  readonly to: Name
  readonly event: NostrEvent
  readonly body: JsonObject
  readonly earned: string
}

let dir = ''
const input = () => join(dir, 'input.json')
const keyFile = (name: Name) => join(dir, `${name}.key`)
beforeAll(async () => {
  dir = await tempDir()
  await loadFastCrypto()
  for (const name of Object.keys(cast) as Name[]) {
    await writeFile(keyFile(name), `${keyOf(name).secret}\n`, { mode: 0o600 })
  }
})

/** What a command of the door printed for an input, or the code of its refusal. */
async function through(value: unknown, command: (file: string) => Promise<{ json: unknown }>) {
  await writeFile(input(), typeof value === 'string' ? value : JSON.stringify(value))
  try {
    return { json: (await command(input())).json as JsonObject }
  } catch (error) {
    if (isRefusal(error)) return { refused: error.code }
    throw error
  }
}

function saidIn({ steps, replies }: Fixture): Said[] {
  const asked = steps.flatMap((step): Said[] => {
    const carries = (step.do === 'deliver' || step.do === 'store') && 'event' in step && step.opened !== null
    if (!carries) return []
    const from = step.do === 'deliver' ? step.from : 'phone'
    const earned = step.do === 'deliver' ? step.earns : ''
    return [{ from, to: 'host', event: step.event, body: step.opened, earned }]
  })
  const answered = replies.flatMap(({ to, opened, event }): Said[] =>
    typeof opened === 'string' || event === undefined
      ? []
      : [{ from: 'host', to, event, body: opened, earned: '' }],
  )
  return [...asked, ...answered]
}

const isBroken = ({ earned }: Said) => /^nothing (bad_signature|bad_envelope|not_)/.test(earned)

describe('the protocol door agrees with the recorded exchanges', () => {
  for (const fixture of everyFixture()) {
    it(fixture.name, async () => {
      for (const said of saidIn(fixture)) {
        const { from, to, event, body, earned } = said
        const checked = await through(body, (file) => check(file, { schema: bodyNameOf(body) as 'request' }))
        if (checked.refused !== undefined) {
          expect([`refused ${checked.refused}`, 'nothing bad_body']).toContain(earned)
          continue
        }
        expect(earned).not.toBe('nothing bad_body')
        expect(JSON.parse(String(checked.json['jcs']))).toEqual(body)
        if (isBroken(said)) continue

        const asTo = { keyFile: keyFile(to), peer: keyOf(from).publicKey }
        const opened = await through(event, (file) => open(file, asTo))
        if (opened.refused !== undefined) {
          expect(earned).toBe(`refused ${opened.refused}`)
          continue
        }
        expect(opened.json).toMatchObject({ author: keyOf(from).publicKey, body })

        const asFrom = { keyFile: keyFile(from), peer: keyOf(to).publicKey }
        const sealed = await through(body, (file) => seal(file, asFrom))
        const { pubkey, created_at, kind, tags } = event
        if (earned !== 'nothing other_mailbox')
          expect(sealed.json).toMatchObject({ pubkey, created_at, kind, tags })
        const again = await through(sealed.json, (file) => open(file, asTo))
        expect(again.json).toMatchObject({ body })
      }
    })
  }

  it('on every invitation, and shows no capability', async () => {
    const codes = everyFixture().flatMap(
      (fixture) => JSON.stringify(fixture).match(/coder-host:[\w-]+/g) ?? [],
    )
    expect(codes.length).toBeGreaterThan(10)
    const door = { err: () => {} } as unknown as Parameters<typeof invitation>[0]
    for (const code of new Set(codes)) {
      const shown = await through(code, (file) => invitation(door, file, {}))
      expect(shown.json).toMatchObject({ host: keyOf('host').publicKey })
      expect(Object.keys(shown.json ?? {})).not.toContain('capability')
    }
  })

  it('on every grant that an answer carries', async () => {
    const grants = everyFixture().flatMap(({ replies }) => replies.flatMap(({ grant }) => grant ?? []))
    expect(grants.length).toBeGreaterThan(5)
    for (const grant of grants) {
      expect(await through(grant, (file) => check(file, { schema: 'grant' }))).toMatchObject({
        json: { ok: true },
      })
    }
  })
})
