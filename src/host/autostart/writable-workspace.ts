import { Refusal } from '../../protocol/refusal.ts'
import { quoted } from '../../protocol/shell-word.ts'
import { commonDir } from '../helper/git.ts'
import { canonicalPath, containsPath } from '../probe/paths.ts'
import type { Workspace } from '../workspace.ts'

/**
 * Checks that turns may write a workspace: its repository lies elsewhere, so that they cannot reach it.
 *
 * Refuses `io`, with what to type, when the workspace holds the repository, and when it is none or is gone.
 * @see spec/execution.md §5
 */
export async function requireLinkedWorktree({ label, path }: Workspace): Promise<void> {
  const canonical = await canonicalPath(path)
  if (!containsPath(canonical, await canonicalPath(await commonDir(canonical)))) return
  const linked = quoted(`${canonical}-turns`)
  const message = `the workspace ${label} cannot be written: a turn that may write needs a linked worktree`
  throw new Refusal('io', message, {
    hint:
      `git -C ${quoted(canonical)} worktree add ${linked} && drawbridge workspace remove ${quoted(label)} && ` +
      `drawbridge workspace add ${quoted(label)}=${linked}`,
  })
}
