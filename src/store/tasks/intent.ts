import * as z from 'zod'
import { intentTitleBytesMax, promptBytesMax, workspacePathBytesMax } from '../../limits.ts'
import { isIdentifier, isSingleLine, isStoreText } from '../../protocol/text.ts'
import { sha256Digest } from '../digest.ts'

/** What a submitter asks for. The types alone; `intentFault` judges the values. @see spec/store.md §3 */
export const intentSchema = z.strictObject({
  title: z.string(),
  prompt: z.string(),
  workspace: z.strictObject({
    path: z.string(),
    source_revision: z.string().nullable().default(null),
  }),
  configuration: z.strictObject({
    adapter: z.string(),
    model: z.string().nullable().default(null),
  }),
})
export type Intent = z.infer<typeof intentSchema>

/** `sha256:` of the intent in compact form, keys in the order of its schema, whatever bytes it came in. */
export function intentDigest(intent: Intent): string {
  return sha256Digest(JSON.stringify(intentSchema.parse(intent)))
}

/** The first field of an intent that breaks its rule, or null. */
export function intentFault(intent: Intent): string | null {
  const { path, source_revision } = intent.workspace
  const { adapter, model } = intent.configuration
  if (!isSingleLine(intent.title, intentTitleBytesMax)) return 'title'
  if (!isStoreText(intent.prompt, promptBytesMax, 'multi')) return 'prompt'
  if (!isWorkspacePath(path)) return 'workspace.path'
  if (source_revision !== null && !isFullRevision(source_revision)) return 'workspace.source_revision'
  if (!isIdentifier(adapter)) return 'configuration.adapter'
  if (model !== null && !isModelIdentifier(model)) return 'configuration.model'
  return null
}

/** An absolute path without `.` or `..` components. @see spec/store.md §2 */
export function isWorkspacePath(path: string): boolean {
  if (!isSingleLine(path, workspacePathBytesMax) || !path.startsWith('/')) return false
  return !path.split('/').some((component) => component === '.' || component === '..')
}

/** A full Git revision: 40 or 64 lowercase hex. @see spec/store.md §2 */
export function isFullRevision(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
}

/** An identifier that may also contain `/`. */
export function isModelIdentifier(text: string): boolean {
  return isIdentifier(text.replaceAll('/', '-'))
}
