import { join } from 'node:path'
import * as z from 'zod'
import { signerSessionBytesMax } from '../../limits.ts'
import { newSecretKey, publicKey, secretBytes } from '../../protocol/keys.ts'
import { refusalOf } from '../../protocol/refusal-issues.ts'
import { parseStrictJson } from '../../protocol/strict-json.ts'
import type { Disk } from '../../seams/disk.ts'
import type { Random } from '../../seams/random.ts'

const sessionSchema = z.strictObject({
  schema: z.literal('drawbridge.remote-signer.v1'),
  remote: publicKey,
  /** The client's secret key: the signer knows us by it. */
  client: z.string().regex(/^[0-9a-f]{64}$/),
  /** Whether the signer has let this client in. */
  connected: z.boolean(),
})
export type SignerSession = z.infer<typeof sessionSchema>

/**
 * The client key by which a remote signer knows this state directory, made once for each signer, so that what its
 * owner allowed stays allowed. A file that holds anything else refuses `malformed` and is left alone.
 */
export async function openSession(
  disk: Disk,
  random: Random,
  dir: string,
  remote: string,
): Promise<SignerSession> {
  const path = pathOf(dir, remote)
  const fresh = {
    schema: 'drawbridge.remote-signer.v1' as const,
    remote,
    client: newSecretKey(random),
    connected: false,
  }
  await disk.makeDirectory(join(dir, 'remote-signer'))
  const there = await disk.read(path, signerSessionBytesMax)
  if (there !== null) return readSession(there)
  if (await disk.create(path, bytesOf(fresh))) return fresh
  return readSession((await disk.read(path, signerSessionBytesMax)) ?? new Uint8Array())
}

/** Saves that the signer let this client in. */
export async function saveConnected(disk: Disk, dir: string, session: SignerSession): Promise<void> {
  await disk.replace(pathOf(dir, session.remote), bytesOf({ ...session, connected: true }))
}

function readSession(bytes: Uint8Array): SignerSession {
  const { value } = parseStrictJson(bytes, { bytesMax: signerSessionBytesMax })
  const read = sessionSchema.safeParse(value)
  if (!read.success) throw refusalOf(read.error.issues, 'remote signer session')
  secretBytes(read.data.client)
  return read.data
}

function pathOf(dir: string, remote: string): string {
  return join(dir, 'remote-signer', `${remote}.json`)
}

function bytesOf(session: SignerSession): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(session)}\n`)
}
