import { spawnSync } from 'node:child_process'
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Refusal } from '../../protocol/refusal.ts'

const mkfifoPlaces = ['/usr/bin/mkfifo', '/run/current-system/sw/bin/mkfifo']
const readBytes = 65_536

/** A pipe whose one end a child writes. */
export interface OutputPipe {
  /** The child's end. Close it here as soon as the child has it, or the pipe never ends. */
  readonly childEnd: number
  /** Our end, not read yet. */
  readonly ourEnd: number
}

/** A pipe that is being read. */
export interface PipeReader {
  /** Every writer has gone, or reading was given up. Never rejects. */
  readonly ended: Promise<void>
  /** Gives up reading. */
  abandon(): void
}

/**
 * Opens two kernel pipes. Node's own are sockets, on which a command's `> /dev/stderr` fails; so they are made as
 * named ones, whose names are gone before anybody else can use them.
 * Refuses `io` when they cannot be made.
 */
export function openOutputPipes(): { stdout: OutputPipe; stderr: OutputPipe } {
  const directory = mkdtempSync(join(tmpdir(), 'drawbridge-pipes-'))
  try {
    const paths = [join(directory, 'out'), join(directory, 'err')] as const
    makeNamedPipes(paths)
    const stdout = openPipe(paths[0])
    try {
      return { stdout, stderr: openPipe(paths[1]) }
    } catch (error) {
      closeSync(stdout.childEnd)
      closeSync(stdout.ourEnd)
      throw error
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * Reads our end as fast as bytes arrive, for ever, into one piece of memory: `onBytes` must copy what it keeps.
 */
export function readPipe(pipe: OutputPipe, onBytes: (bytes: Uint8Array) => void): PipeReader {
  const memory = Buffer.allocUnsafeSlow(readBytes)
  const onread = {
    buffer: memory,
    callback: (length: number): boolean => {
      onBytes(memory.subarray(0, length))
      return true
    },
  }
  // Documented for sockets, missing in the types of the constructor.
  const options = { fd: pipe.ourEnd, readable: true, writable: false, onread }
  const socket = new Socket(options)
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
    socket.on('error', () => socket.destroy())
    socket.once('end', () => socket.destroy())
  })
  socket.resume()
  return { ended, abandon: () => void socket.destroy() }
}

function makeNamedPipes(paths: readonly string[]): void {
  const program = mkfifoPlaces.find((place) => existsSync(place))
  if (program === undefined) throw new Refusal('io', `mkfifo is missing: ${mkfifoPlaces.join(' and ')}`)
  const { status } = spawnSync(program, ['-m', '600', '--', ...paths], { env: {}, stdio: 'ignore' })
  if (status !== 0) throw new Refusal('io', 'the pipes of a command could not be made')
}

/** Our end first: the child's end cannot be opened before somebody reads. */
function openPipe(path: string): OutputPipe {
  const ourEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    return { ourEnd, childEnd: openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW) }
  } catch (error) {
    closeSync(ourEnd)
    throw error
  }
}
