import { chmod, rename, rm } from 'node:fs/promises'
import { build } from 'esbuild'

const root = new URL('..', import.meta.url).pathname
const fresh = `${root}dist/.building-${process.pid}`
const target = `${root}dist/cli`

// Built beside the old one and swapped in, so that a command that starts meanwhile finds one whole build.
await build({
  absWorkingDir: root,
  entryPoints: { main: 'src/cli/main.ts' },
  outdir: fresh,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: 'linked',
  // Bundled CommonJS packages still ask for Node's own modules through `require`.
  banner: {
    js: "import { createRequire as drawbridgeRequire } from 'node:module'; const require = drawbridgeRequire(import.meta.url);",
  },
  // Native and CommonJS packages stay packages: the first cannot be bundled, the others need `require`.
  external: ['fs-native-extensions', 'ws', 'pino', 'proper-lockfile', 'nostr-wasm'],
  logLevel: 'warning',
})
await chmod(`${fresh}/main.js`, 0o755)
await rename(target, `${fresh}.old`).catch(() => undefined)
await rename(fresh, target)
await rm(`${fresh}.old`, { recursive: true, force: true })
