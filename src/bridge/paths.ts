import { join } from 'node:path'

/** Where everything of one home lives. Every path is absolute when `home` is. */
export interface HomePaths {
  readonly home: string
  readonly host: string
  readonly hostKey: string
  readonly ownerKey: string
  readonly access: string
  readonly accessLock: string
  readonly replies: string
  readonly settings: string
  readonly generation: string
  readonly tasks: string
  readonly taskFiles: string
  readonly run: string
  readonly controlSocket: string
  readonly controlToken: string
  readonly ready: string
  readonly pid: string
  readonly serveLock: string
  readonly told: string
}

/**
 * Names every file of a home.
 * @see spec/cli.md
 */
export function homePaths(home: string): HomePaths {
  const host = join(home, 'host')
  const tasks = join(home, 'tasks')
  const run = join(home, 'run')
  return {
    home,
    host,
    hostKey: join(host, 'host.key'),
    ownerKey: join(host, 'owner.key'),
    access: join(host, 'access.json'),
    accessLock: join(host, 'access.lock'),
    replies: join(host, 'replies.jsonl'),
    settings: join(host, 'serve.json'),
    generation: join(host, 'generation.json'),
    tasks,
    taskFiles: join(tasks, 'task'),
    run,
    controlSocket: join(run, 'control.sock'),
    controlToken: join(run, 'control.token'),
    ready: join(run, 'ready.json'),
    pid: join(run, 'pid'),
    serveLock: join(run, 'serve.lock'),
    told: join(run, 'told.json'),
  }
}
