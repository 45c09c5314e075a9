import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parentPort, workerData } from 'node:worker_threads'

/** A loop with nothing to do: what stalls it is the machine. Says the 99th percentile when asked, and ends. */
const histogram = monitorEventLoopDelay({ resolution: workerData })
histogram.enable()
parentPort.once('message', () => parentPort.postMessage(histogram.percentile(99)))
