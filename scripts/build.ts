import { chmod, rm } from 'node:fs/promises'
import { build } from 'esbuild'

const root = new URL('..', import.meta.url).pathname

await rm(`${root}dist`, { recursive: true, force: true })
await build({
  absWorkingDir: root,
  entryPoints: { 'cli/main': 'src/cli/main.ts' },
  outdir: 'dist',
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
await chmod(`${root}dist/cli/main.js`, 0o755)
