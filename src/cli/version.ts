/** The product's version; a test keeps it equal to package.json. */
export const productVersion = '0.1.0'

/** The version of the wire protocol that presence announces. @see spec/wire.md §5 */
export const protocolVersion = 1

/** What `drawbridge version` prints: one line for a person, one JSON value with `--json`. */
export function versionText(json: boolean): string {
  if (json) {
    const facts = {
      version: productVersion,
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
      protocol: protocolVersion,
    }
    return `${JSON.stringify(facts)}\n`
  }
  return `drawbridge ${productVersion} (node ${process.versions.node}, ${process.platform}-${process.arch}, protocol ${protocolVersion})\n`
}
