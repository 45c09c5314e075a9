import { execa } from 'execa'
import { compare, timed } from './measure.ts'

/** `drawbridge version` as a whole process, in turn with a bare `node -e 0`. */
export async function startup(): Promise<void> {
  const main = new URL('../dist/cli/main.js', import.meta.url).pathname
  const product: number[] = []
  const floor: number[] = []
  const start = async (args: string[]): Promise<void> => {
    await execa(process.execPath, args, { stdin: 'ignore' })
  }
  for (let round = 0; round < 41; round += 1) {
    const version = await timed(() => start([main, 'version']))
    const bare = await timed(() => start(['-e', '0']))
    if (round === 0) continue
    product.push(version)
    floor.push(bare)
  }
  compare('startup: drawbridge version beside node -e 0', product, floor, 1.3)
}
