import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place, program, programOptions } from '../support/door.ts'

let place: Place
let task = ''

beforeEach(async () => {
  place = await makePlace()
  await place.ask(['init', '--create-owner', '--workspace', `demo=${place.workspace}`, '--loopback-test'])
  await place.start([
    ...['serve', '--embedded-relay', '127.0.0.1:0', '--loopback-test'],
    ...['--log-level', 'silent', '--json'],
  ]).firstLine
  const { code } = await place.ask(['invite'])
  await place.onDevice(['device', 'redeem', '-'], { input: code })
  const words = ['--workspace', 'demo', '--title', 'Wait', '--prompt', 'Wait for leave.']
  task = (await place.onDevice(['device', 'create', ...words])).task
})
afterEach(() => place.leave())

describe('the queue as the owner', () => {
  it('every verb answers, or names what to do; following the journal shows each change as it comes', async () => {
    const following = follow(['commands', 'list', task, '--follow', '--json'])
    const table = place.start(['commands', 'list', '--follow'])
    const { id } = await place.onDevice(['device', 'queue', task, 'From the phone.'])
    expect(await following.next()).toMatchObject({
      request: { command: id, kind: 'queue', text: 'From the phone.' },
      state: { state: 'held', priority: false },
    })
    expect(await table.firstLine).toContain(`${id.slice(0, 12)}  queue  held  From the phone.`)

    const mine = await sendAsOwner('From the owner.')
    await says(['edit', task, mine.id, 'Other.'], 'conflict', `drawbridge queue lease ${task}`)
    expect((await place.ask(['queue', 'lease', task])).lease).not.toBeNull()
    await says(['edit', task, id, 'Not mine.'], 'forbidden', "only the owner's own messages")
    await says(['edit', task, mine.id, ' '], 'bounds', 'must not be blank')
    await says(['remove', task, mine.id.slice(0, 12)], 'malformed', `drawbridge queue list ${task}`)
    await says(['reorder', task, mine.id], 'conflict', 'name exactly the waiting messages')
    expect(textsOf(await place.ask(['queue', 'edit', task, mine.id, 'Mine.']))).toEqual([null, 'Mine.'])
    expect(textsOf(await place.ask(['queue', 'reorder', task, mine.id, id]))).toEqual(['Mine.', null])
    expect(textsOf(await place.ask(['queue', 'list', task]))).toEqual(['Mine.', null])
    expect(textsOf(await place.ask(['queue', 'remove', task, mine.id]))).toEqual([null])
    await says(['send-now', task, mine.id], 'conflict', `drawbridge queue list ${task}`)

    const refused = await place.run([...['device', 'lease', task], ...onDevice()])
    expect([refused.code, refused.stderr]).toEqual([
      1,
      'drawbridge: the host refused it (conflict)\nanother device edits this queue: try again in a minute\n',
    ])

    // The turn ends under the lease; giving the queue back starts the message at once.
    await place.onDevice(['device', 'interrupt', task, 'Enough'])
    expect((await place.ask(['queue', 'release', task])).items).toEqual([])
    const isDone = ({ request, state }: Shown) => request.command === id && state.state === 'done'
    let shown = await following.next()
    while (!isDone(shown)) shown = await following.next()
    expect(shown.state).toMatchObject({ outcome: 'applied' })
    expect(await following.stop()).toBe(130)
    expect((await table.stop('SIGINT')).code).toBe(130)
  })

  it('a message that is sent now starts before those that waited longer, in spite of the lease', async () => {
    await place.onDevice(['device', 'queue', task, 'From the phone.'])
    const { id } = await sendAsOwner('At once.')
    await place.ask(['queue', 'lease', task])
    await place.onDevice(['device', 'interrupt', task, 'Enough'])
    expect(textsOf(await place.ask(['queue', 'list', task]))).toEqual([null, 'At once.'])
    expect(textsOf(await place.ask(['queue', 'send-now', task, id]))).toEqual([null])
    expect(await place.ask(['task', 'show', task])).toMatchObject({
      status: 'queued',
      follow_ups: [{ prompt: 'At once.' }],
    })
  })

  it('a journal that does not read names its file and what ends it, to the owner and to the device', async () => {
    const path = join(place.home, 'tasks', 'commands.json')
    await place.onDevice(['device', 'queue', task, 'One.'])
    await writeFile(path, '{"schema"')
    const sent = await place.run(['device', 'queue', task, 'Two.', ...onDevice()])
    expect(sent.code).toBe(1)
    expect(sent.stderr).toContain('(unavailable)')
    expect(sent.stderr).toContain('drawbridge status and drawbridge doctor')
    const words = `no command is taken until ${path} is put back from a backup`
    // Until somebody or the sweep reads it again, all that is known is that another program changed it.
    await place.until('the fault', ['status'], ({ faults }) => faults.join().includes(words))
    expect((await place.run(['status'])).stdout).toContain(words)
    await says(['list', task], 'unavailable', 'drawbridge doctor')
    const listed = await place.run(['commands', 'list'])
    expect([listed.code, listed.stderr.includes(words)]).toEqual([1, true])
  })
})

interface Shown {
  readonly request: { readonly command: string }
  readonly state: { readonly state: string; readonly outcome?: string }
}

const onDevice = () => ['--state', place.device, '--loopback-test']
const textsOf = ({ items }: { items: { text: string | null }[] }) => items.map(({ text }) => text)

const sendAsOwner = (text: string) =>
  place.onDevice([
    ...['device', 'queue', task, text],
    ...['--owner-key-file', join(place.home, 'host', 'owner.key')],
  ])

/** The verb is refused with this code, and its second line has these words. */
async function says(verb: string[], code: string, words: string): Promise<void> {
  const { code: exit, stderr } = await place.run(['queue', ...verb])
  const [refusal = '', hint = ''] = stderr.split('\n')
  expect([exit, refusal.endsWith(`(${code})`), hint], stderr).toEqual([
    1,
    true,
    expect.stringContaining(words),
  ])
}

/** Starts a command that prints an entry a line. */
function follow(args: string[]): { next(): Promise<Shown>; stop(): Promise<number | undefined> } {
  const child = execa(process.execPath, [program, ...args], programOptions(place.home))
  const lines = child.iterable()
  return {
    next: async () => JSON.parse(String((await lines.next()).value)),
    async stop() {
      child.kill('SIGINT')
      return (await child).exitCode
    },
  }
}
