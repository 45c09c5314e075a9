import { resolve } from 'node:path'
import { declare, group, type Parent } from '../declare.ts'
import { answer, type Door } from '../door.ts'
import { labelled } from '../options.ts'
import { type Answer, table } from '../output.ts'

/** `drawbridge workspace list|add|remove`. A running service picks the change up. @see spec/cli.md */
export function addWorkspace(program: Parent): void {
  const workspace = group(
    program,
    'workspace',
    'the folders that devices may name',
    'drawbridge workspace list',
  )
  declare(workspace, 'list', 'labels and folders', 'drawbridge workspace list').action(
    async (_options, command) => {
      await answer(command, async (door) => {
        const { openHome, summaryOf } = await import('../../bridge/home.ts')
        const { realDisk } = await import('../../store/disk.ts')
        return shown(summaryOf(await openHome(realDisk, door.home)).workspaces)
      })
    },
  )
  declare(workspace, 'add', 'lets devices name a folder', 'drawbridge workspace add notes=~/work/notes')
    .argument('<label=path>', 'the label and the folder', labelled)
    .action(async ({ label, path }, _options, command) => {
      await answer(command, async (door) => {
        const { canonicalWorkspace, withWorkspaces } = await import('../../bridge/serve-settings.ts')
        const added = await canonicalWorkspace(door.home, label, resolve(path))
        return change(door, withWorkspaces([added]))
      })
    })
  declare(workspace, 'remove', 'forgets a folder; its tasks stay', 'drawbridge workspace remove notes')
    .argument('<label>')
    .action(async (label, _options, command) => {
      await answer(command, async (door) => {
        const { withoutWorkspace } = await import('../../bridge/serve-settings.ts')
        return change(door, withoutWorkspace(label))
      })
    })
}

type Rule = Parameters<typeof import('../../bridge/serve-settings.ts').changeServeSettings>[2]

async function change(door: Door, rule: Rule): Promise<Answer> {
  const { changeServeSettings } = await import('../../bridge/serve-settings.ts')
  const { homePaths } = await import('../../bridge/paths.ts')
  const { realDisk } = await import('../../store/disk.ts')
  const { operatorOf } = await import('../operator.ts')
  const changed = await changeServeSettings(realDisk, homePaths(door.home), rule)
  await operatorOf(door).reload()
  return shown(changed.workspaces)
}

function shown(workspaces: readonly { label: string; path: string }[]): Answer {
  if (workspaces.length === 0) return { json: { workspaces }, text: 'no workspaces\n' }
  return {
    json: { workspaces },
    text: table(
      ['label', 'folder'],
      workspaces.map(({ label, path }) => [label, path]),
    ),
  }
}
