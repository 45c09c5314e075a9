import { cpus, release } from 'node:os'
import { command } from './command.ts'
import { held } from './held.ts'
import { isolation } from './isolation.ts'
import { journal } from './journal.ts'
import { memory } from './memory.ts'
import { replay } from './replay.ts'
import { requests } from './requests.ts'
import { senders } from './senders.ts'
import { startup } from './startup.ts'
import { storeCreate } from './store/create.ts'
import { storeList } from './store/list.ts'
import { storeMigration } from './store/migration.ts'
import { storeProcesses } from './store/processes.ts'

const benches: Readonly<Record<string, () => Promise<void>>> = {
  command,
  startup,
  requests,
  memory,
  isolation,
  held,
  journal,
  senders,
  replay,
  'store-create': storeCreate,
  'store-list': storeList,
  'store-migration': storeMigration,
  'store-processes': storeProcesses,
}

const names = process.argv.slice(2)
const unknown = names.find((name) => benches[name] === undefined)
if (names.length === 0 || unknown !== undefined) {
  console.error(`usage: npm run bench -- ${Object.keys(benches).join('|')} …`)
  process.exit(64)
}
console.log(`node ${process.version}, Linux ${release()}, ${cpus().length} cores`)
for (const name of names) await benches[name]?.()
