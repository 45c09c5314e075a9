import { rotateTasks } from '../bridge/rotate.ts'
import { quoted } from '../protocol/shell-word.ts'
import { realDisk } from '../store/disk.ts'
import type { Door } from './door.ts'
import { type Answer, facts } from './output.ts'

/** Puts the task store aside and begins a new one. Refuses as `rotateTasks`. */
export async function rotate(door: Door): Promise<Answer> {
  const rotation = await rotateTasks({ disk: realDisk, clock: door.clock }, door.home, process.pid)
  const text = facts([
    ['put aside', rotation.retired],
    ['tasks in it', String(rotation.tasks)],
    ['look at it', `drawbridge task list --store ${quoted(rotation.retired)}`],
  ])
  return { json: rotation, text }
}
