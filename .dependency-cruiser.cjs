/** Who may import whom: the table of ARCHITECTURE.md, as rules. */
const layer = (name, allowed) => ({
  name: `layer-${name}`,
  severity: 'error',
  from: { path: `^src/${name}/` },
  to: { path: '^src/', pathNot: [`^src/${name}/`, '^src/limits\\.ts$', '^src/seams/', ...allowed.map((other) => `^src/${other}/`)] },
})

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } } },
    { name: 'no-orphans', severity: 'error', from: { path: '^src/', orphan: true, pathNot: ['^src/cli/main\\.ts$', '^src/limits\\.ts$', '\\.d\\.ts$'] }, to: {} },
    { name: 'nothing-imports-cli', severity: 'error', from: { pathNot: '^(src/cli|scripts)/' }, to: { path: '^src/cli/' } },
    { name: 'src-imports-no-tests', severity: 'error', from: { path: '^src/' }, to: { path: '^(test|bench|scripts)/' } },
    { name: 'no-dev-dependency-in-src', severity: 'error', from: { path: '^src/' }, to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] } },
    layer('seams', []),
    layer('protocol', []),
    layer('store', ['protocol']),
    layer('host', ['protocol', 'store']),
    layer('device', ['protocol']),
    layer('relay', ['protocol']),
    layer('bridge', ['protocol', 'store', 'commands', 'host']),
    {
      name: 'layer-commands',
      severity: 'error',
      from: { path: '^src/commands/' },
      to: { path: '^src/', pathNot: ['^src/commands/', '^src/limits\\.ts$', '^src/seams/', '^src/protocol/', '^src/store/', '^src/host/steering\\.ts$'] },
    },
    {
      name: 'commands-takes-only-types-of-host',
      severity: 'error',
      from: { path: '^src/commands/' },
      to: { path: '^src/host/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'seams-leaf',
      severity: 'error',
      from: { path: '^src/seams/' },
      to: { path: '^src/(?!seams/|limits\\.ts|protocol/refusal\\.ts)' },
    },
    {
      name: 'processes-only-in-supervise-and-helper',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/host/supervise/', '^src/host/helper/'] },
      to: { path: ['^(node:)?child_process$', 'node_modules/execa/'] },
    },
    {
      name: 'sockets-only-in-their-seam',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/seams/ws-relay-socket\\.ts$', '^src/relay/listen\\.ts$'] },
      to: { path: 'node_modules/ws/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
}
