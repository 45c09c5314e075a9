#!/usr/bin/env node
import { versionText } from './version.ts'

// `version` answers before anything else is loaded: it must start about as fast as Node itself.
const words = process.argv.slice(2)
const first = words[0]
const onlyJson = words.slice(1).every((word) => word === '--json')
if ((first === 'version' || first === '--version') && onlyJson) {
  process.stdout.write(versionText(words.length > 1))
} else {
  const { run } = await import('./run.ts')
  await run(words)
}
