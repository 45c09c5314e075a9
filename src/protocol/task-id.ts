import { sha256Hex } from './digest.ts'

/**
 * The ID of the task that a device's request creates: the same for every replay of that request.
 * @param device the device's public key, 64 hex
 * @param request the request's ID, 64 hex
 * @see spec/wire.md §6
 */
export function deviceTaskId(device: string, request: string): string {
  return sha256Hex(`drawbridge.task.v1\0${device}:${request}`)
}
