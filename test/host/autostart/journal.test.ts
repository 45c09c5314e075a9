import { appendFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openAutostartJournal } from '../../../src/host/autostart/journal.ts'
import { autostartEntriesKept, autostartJournalSoftBytes } from '../../../src/limits.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { tempDir } from '../../support/temp-dir.ts'

async function journalIn(home: string) {
  return openAutostartJournal(realDisk, fakeClock(1_000), home)
}

describe('the auto-start journal', () => {
  it('keeps each entry as one private line', async () => {
    const home = await tempDir()
    const journal = await journalIn(home)
    expect(await journal.entries()).toEqual([])
    await journal.append({ event: 'policy_on' })
    await journal.append({ event: 'eligible', task: 'task-1' })
    const path = join(home, 'host/autostart.jsonl')
    expect(await readFile(path, 'utf8')).toBe(
      '{"schema":"openagents.coder.host-autostart-entry.v1","at":1000,"event":"policy_on"}\n' +
        '{"schema":"openagents.coder.host-autostart-entry.v1","at":1000,"event":"eligible","task":"task-1"}\n',
    )
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await (await journalIn(home)).state()).waiting).toHaveLength(1)
  })

  it('skips lines that do not read and never glues an entry to half of one', async () => {
    const home = await tempDir()
    await mkdir(join(home, 'host'), { mode: 0o700 })
    await writeFile(join(home, 'host/autostart.jsonl'), 'junk\n{"schema":"openagents', { mode: 0o600 })
    const journal = await journalIn(home)
    await journal.append({ event: 'eligible', task: 'task-1' })
    expect((await journal.entries()).map(({ event }) => event)).toEqual(['eligible'])
    expect((await readFile(join(home, 'host/autostart.jsonl'), 'utf8')).split('\n')).toHaveLength(4)
  })

  it('sees what another process appended', async () => {
    const home = await tempDir()
    const journal = await journalIn(home)
    await journal.append({ event: 'eligible', task: 'task-1' })
    expect((await journal.state()).waiting).toHaveLength(1)
    await appendFile(
      join(home, 'host/autostart.jsonl'),
      '{"schema":"openagents.coder.host-autostart-entry.v1","at":1,"event":"skipped","task":"task-1"}\n',
    )
    expect((await journal.state()).waiting).toHaveLength(0)
  })

  it('drops its oldest decided entries when it has grown long, and nothing that still waits or runs', async () => {
    const home = await tempDir()
    await mkdir(join(home, 'host'), { mode: 0o700 })
    const line = (task: string, event: string) =>
      `{"schema":"openagents.coder.host-autostart-entry.v1","at":1,"event":"${event}","task":"${task}"}\n`
    const old = line('waits', 'eligible') + line('runs', 'eligible') + line('runs', 'started')
    const filler = line('done', 'eligible') + line('done', 'ended').repeat(autostartJournalSoftBytes / 80)
    await writeFile(join(home, 'host/autostart.jsonl'), old + filler, { mode: 0o600 })
    const journal = await journalIn(home)
    await journal.append({ event: 'policy_off' })
    const entries = await journal.entries()
    expect(entries.length).toBeLessThanOrEqual(autostartEntriesKept + 4)
    expect(entries.at(-1)?.event).toBe('policy_off')
    expect((await journal.state()).waiting.map(({ task }) => task)).toEqual(['waits'])
    expect((await journal.state()).started.map(({ task }) => task)).toEqual(['runs'])
  })
})
