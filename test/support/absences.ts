/** A source file, its path relative to the repository. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** Something that must be nowhere but in the places named. */
export interface Absence {
  readonly name: string
  readonly pattern: RegExp
  /** Where it is at home; paths that match are not looked at. */
  readonly allowed: RegExp
  /** A line that breaks it, planted by the test that the rule can fail. */
  readonly planted: string
}

const nowhere = /^$/

/** The absences of the design, as patterns over code without its comments. */
export const absences: readonly Absence[] = [
  {
    name: 'the wall clock is read in its seam only',
    pattern: /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\)|\bhrtime\b/,
    allowed: /^src\/seams\/clock\.ts$/,
    planted: 'const at = Date.now()',
  },
  {
    name: 'unpredictable bytes come from their seam only',
    pattern: /\bMath\.random\b|\brandomBytes\b|\bgetRandomValues\b|\brandomUUID\b/,
    allowed: /^src\/seams\/random\.ts$/,
    planted: 'const pick = Math.random()',
  },
  {
    name: 'timers are set in the clock seam only',
    pattern: /\bsetTimeout\b|\bsetInterval\b|timers\/promises/,
    allowed: /^src\/seams\/clock\.ts$/,
    planted: 'setTimeout(run, 5)',
  },
  {
    name: 'processes are started by supervise and helper only',
    pattern:
      /from '(node:)?child_process'|from 'execa'|\bimport\('execa'\)|\bimport\('(node:)?child_process'\)/,
    allowed: /^src\/host\/(supervise|helper)\//,
    planted: "import { spawn } from 'node:child_process'",
  },
  {
    name: 'sockets are opened in their seam and by the embedded relay only',
    pattern: /from 'ws'|\bimport\('ws'\)/,
    allowed: /^src\/(seams\/ws-relay-socket|relay\/listen)\.ts$/,
    planted: "import { WebSocket } from 'ws'",
  },
  {
    name: 'files are opened by the store, by readers of evidence and by the door that reads what a person named',
    pattern: /from 'node:fs(\/promises)?'/,
    allowed:
      /^src\/(store\/|host\/(snapshot|artifacts|boundary|supervise|helper|probe)\/|cli\/input\.ts$|cli\/demo\/)/,
    planted: "import { readFile } from 'node:fs/promises'",
  },
  {
    name: 'nobody orders by a time that a peer claims; only a relay filters by it',
    pattern: /created_at\s*[<>]|[<>]=?\s*[\w.]*created_at|sort\([^)]*created_at/,
    allowed: /^src\/relay\//,
    planted: 'if (event.created_at > newest) return',
  },
  {
    name: 'bytes from a relay or a device are parsed by protocol only',
    pattern: /\bJSON\.parse\(/,
    // The store and the host read their own files back; the demo reads what its own children print.
    allowed: /^src\/(protocol|store|host|cli\/demo)\//,
    planted: 'const body = JSON.parse(text)',
  },
  {
    name: 'there are no default exports',
    pattern: /^export default\b|\bexport \{[^}]*\bas default\b/m,
    allowed: nowhere,
    planted: 'export default function run() {}',
  },
  {
    name: 'there is no any',
    pattern: /:\s*any\b|\bas any\b|<any>/,
    allowed: nowhere,
    planted: 'const value = given as any',
  },
  {
    name: 'nothing prints through the console',
    pattern: /\bconsole\.\w+\(/,
    allowed: nowhere,
    planted: "console.log('here')",
  },
  {
    name: 'nothing is left to do later in a comment or a skipped branch',
    pattern: /\bnot implemented\b/i,
    allowed: nowhere,
    planted: "throw new Error('not implemented')",
  },
]

export const linesMax = 260

/** The files that break `absence`, each once. */
export function breaking(absence: Absence, files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => !absence.allowed.test(file.path))
    .filter((file) => absence.pattern.test(withoutComments(file.text)))
    .map((file) => file.path)
}

/** The files that are longer than a file may be. The table of bounds is one file however many there are. */
export function tooLong(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => file.path !== tableOfBounds)
    .filter((file) => file.text.split('\n').length - 1 > linesMax)
    .map((file) => file.path)
}

export const tableOfBounds = 'src/limits.ts'

/** The lines of the table of bounds that are more than a name and its number. */
export function notBounds(table: string): string[] {
  return withoutComments(table)
    .split('\n')
    .filter((line) => line !== '' && !/^export const [A-Za-z0-9]+ = [0-9_]+$/.test(line))
}

/** The files with a mark of unfinished work, comments included. */
export function unfinished(files: readonly SourceFile[]): string[] {
  return files.filter((file) => /\b(TODO|FIXME|XXX|HACK)\b/.test(file.text)).map((file) => file.path)
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
}
