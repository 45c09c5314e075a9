import { closeSync } from 'node:fs'
import { pipeGraceMs } from '../../limits.ts'
import type { Clock } from '../../seams/clock.ts'
import { createErrorCapture, type ErrorCapture } from './error-capture.ts'
import { createOutputBuffer, type OutputBuffer } from './output-buffer.ts'
import { type OutputPipe, openOutputPipes, type PipeReader, readPipe } from './pipes.ts'
import { within } from './within.ts'

/** A command's two output streams, drained for as long as it lives. */
export interface RunStreams {
  readonly output: OutputBuffer
  readonly errors: ErrorCapture
  /** The ends that the command writes. */
  readonly childEnds: { readonly stdout: number; readonly stderr: number }
  /** Calls `listener` when output comes. */
  onOutput(listener: () => void): void
  /** To be called as soon as the command has its ends: from then on they end with it. */
  handOver(): void
  /** Reads on to the end, for at most 250 ms, then gives up. */
  finish(clock: Clock): Promise<void>
}

/** Opens and drains both streams. Refuses `io`. */
export function openRunStreams(streamBytes: number): RunStreams {
  const output = createOutputBuffer(streamBytes)
  const errors = createErrorCapture(streamBytes)
  const pipes = openOutputPipes()
  let listener = (): void => {}
  const readers: readonly PipeReader[] = [
    readPipe(pipes.stdout, (bytes) => {
      output.write(bytes)
      listener()
    }),
    readPipe(pipes.stderr, (bytes) => errors.write(bytes)),
  ]
  return {
    output,
    errors,
    childEnds: { stdout: pipes.stdout.childEnd, stderr: pipes.stderr.childEnd },
    onOutput: (added) => {
      listener = added
    },
    handOver: () => closeChildEnds([pipes.stdout, pipes.stderr]),
    async finish(clock) {
      const ended = Promise.all(readers.map((reader) => reader.ended))
      await within(clock, pipeGraceMs, ended, null)
      for (const reader of readers) reader.abandon()
    },
  }
}

function closeChildEnds(pipes: readonly OutputPipe[]): void {
  for (const pipe of pipes) closeSync(pipe.childEnd)
}
