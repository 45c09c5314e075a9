import { openHome } from '../../src/bridge/home.ts'
import { createLog } from '../../src/bridge/log.ts'
import { startService } from '../../src/bridge/service.ts'
import { type Relay, startRelay } from '../../src/relay/listen.ts'
import { askRelayInformation } from '../../src/seams/http-relay-information.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { realDisk } from '../../src/store/disk.ts'
import { watchStalls } from '../stall.ts'
import { aheadClock } from './ahead-clock.ts'
import { countCalls, profile } from './profile.ts'
import type { Question, Reply } from './questions.ts'
import { watchedDisk } from './watched-disk.ts'

/**
 * The real service of a home, with its embedded relay on a port (0: it uses the relay of its settings), as
 * `drawbridge serve` runs it but for a disk that counts and a clock that can be set ahead. Answers its parent's questions.
 */
const [home = '', port = '0', watch = ''] = process.argv.slice(2)
const clock = aheadClock()
const watched = watchedDisk(realDisk)
const launcher = { launch: () => Promise.reject(new Error('nothing is launched here')) }

let endWatch = watch === '' ? null : await watchStalls()

const { hostKey } = await openHome(realDisk, home)
let relay: Relay | null = null
if (port !== '0') {
  const where = { host: '127.0.0.1', port: Number(port) }
  relay = await startRelay({ clock, random: systemRandom, ...where, serves: () => [hostKey.publicKey] })
}
const service = await startService({
  disk: watched.disk,
  clock,
  random: systemRandom,
  dial: dialRelay,
  information: askRelayInformation,
  launcher,
  log: createLog(clock, 'warn', { write: (line) => void process.stderr.write(line) }),
  home,
  pid: process.pid,
  relays: relay === null ? [] : [relay.url],
  loopbackTest: true,
})
await service.ready

let endProfile: Awaited<ReturnType<typeof profile>> | null = null
let endCount: Awaited<ReturnType<typeof countCalls>> | null = null

async function answer(question: Question): Promise<unknown> {
  switch (question.about) {
    case 'host':
      return service.host
    case 'usage': {
      if (question.collect) for (let time = 0; time < 3; time += 1) globalThis.gc?.()
      const { user, system } = process.cpuUsage()
      return { cpuMs: (user + system) / 1000, ...process.memoryUsage(), disk: { ...watched.use } }
    }
    case 'counters':
      return (await service.status()).counters
    case 'profile':
      endProfile = await profile()
      return null
    case 'shares':
      return await endProfile?.()
    case 'count':
      endCount = await countCalls(/\/src\/(protocol|store)\/|nostr-tools/)
      return null
    case 'calls':
      return await endCount?.()
    case 'watch':
      endWatch = await watchStalls()
      return null
    case 'stalls':
      return await endWatch?.()
    case 'ahead':
      clock.aheadMs += question.ms
      return null
    case 'slow':
      watched.slow = question.path === null ? null : { path: new RegExp(question.path), ms: question.ms }
      return null
    case 'stop':
      await service.stop()
      await relay?.close()
      process.disconnect()
      return null
  }
}

process.on('message', async (question: Question) => {
  const value = await answer(question)
  if (process.connected) process.send?.({ number: question.number, value } satisfies Reply)
})
process.send?.({ number: 0, value: null } satisfies Reply)
