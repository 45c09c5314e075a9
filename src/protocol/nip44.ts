import { chacha20 } from '@noble/ciphers/chacha.js'
import { equalBytes } from '@noble/ciphers/utils.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { expand, extract } from '@noble/hashes/hkdf.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { fromBase64, toBase64 } from './base64.ts'
import { fromHex } from './hex.ts'
import { isPublicKey, secretBytes } from './keys.ts'
import { Refusal } from './refusal.ts'

const version = 2
const nonceBytes = 32
const macBytes = 32
const shortLengthMax = 65_535
const payloadCharsMin = 132

/**
 * The NIP-44 v2 conversation key of a secret key and a peer's public key (64 hex each): 32 bytes, the same from
 * both ends. Costs milliseconds; keep it per peer. Refuses `malformed` for a key that is not one.
 */
export function conversationKey(secretHex: string, peerHex: string): Uint8Array {
  const secret = secretBytes(secretHex)
  if (!isPublicKey(peerHex)) throw new Refusal('malformed', 'not a public key')
  const shared = secp256k1.getSharedSecret(secret, fromHex(`02${peerHex}`)).subarray(1, 33)
  return extract(sha256, shared, utf8ToBytes('nip44-v2'))
}

/**
 * Encrypts a nonempty text with NIP-44 v2.
 * @param nonce 32 bytes, never used twice with one key
 */
export function encrypt(text: string, key: Uint8Array, nonce: Uint8Array): string {
  const keys = messageKeys(key, nonce)
  const ciphertext = chacha20(keys.cipher, keys.cipherNonce, pad(utf8ToBytes(text)))
  const mac = hmac(sha256, keys.mac, concatBytes(nonce, ciphertext))
  return toBase64(concatBytes(new Uint8Array([version]), nonce, ciphertext, mac))
}

/**
 * Decrypts a NIP-44 v2 payload to the exact bytes inside, so that the reader of the plaintext can refuse bad UTF-8.
 * Refuses `bounds` above `contentBytesMax` characters, before any work, and `malformed` for anything that is not a
 * payload of this key.
 */
export function decryptToBytes(
  payload: string,
  key: Uint8Array,
  { contentBytesMax }: { contentBytesMax: number },
): Uint8Array {
  if (payload.length > contentBytesMax)
    throw new Refusal('bounds', `content is over ${contentBytesMax} bytes`)
  if (payload.length < payloadCharsMin) throw unreadable()
  const data = fromBase64(payload)
  if (data[0] !== version) throw unreadable()
  const nonce = data.subarray(1, 1 + nonceBytes)
  const ciphertext = data.subarray(1 + nonceBytes, -macBytes)
  const keys = messageKeys(key, nonce)
  const mac = hmac(sha256, keys.mac, concatBytes(nonce, ciphertext))
  if (!equalBytes(mac, data.subarray(-macBytes))) throw unreadable()
  return unpad(chacha20(keys.cipher, keys.cipherNonce, ciphertext))
}

/** How many characters the payload of a plaintext of `bytes` UTF-8 bytes has. */
export function payloadChars(bytes: number): number {
  const prefix = bytes > shortLengthMax ? 6 : 2
  const data = 1 + nonceBytes + prefix + paddedBytes(bytes) + macBytes
  return 4 * Math.ceil(data / 3)
}

function messageKeys(
  key: Uint8Array,
  nonce: Uint8Array,
): Record<'cipher' | 'cipherNonce' | 'mac', Uint8Array> {
  if (key.length !== 32 || nonce.length !== nonceBytes)
    throw new Error('a key and a nonce have 32 bytes each')
  const keys = expand(sha256, key, nonce, 76)
  return { cipher: keys.subarray(0, 32), cipherNonce: keys.subarray(32, 44), mac: keys.subarray(44, 76) }
}

/** Lengths are rounded up so that a payload's size tells little about its text. */
function paddedBytes(bytes: number): number {
  if (bytes <= 32) return 32
  const nextPower = 2 ** (Math.floor(Math.log2(bytes - 1)) + 1)
  const chunk = nextPower <= 256 ? 32 : nextPower / 8
  return chunk * (Math.floor((bytes - 1) / chunk) + 1)
}

function pad(text: Uint8Array): Uint8Array {
  if (text.length === 0) throw new Refusal('bounds', 'nothing to encrypt')
  const long = text.length > shortLengthMax
  const start = long ? 6 : 2
  const padded = new Uint8Array(start + paddedBytes(text.length))
  const view = new DataView(padded.buffer)
  if (long) view.setUint32(2, text.length)
  else view.setUint16(0, text.length)
  padded.set(text, start)
  return padded
}

function unpad(padded: Uint8Array): Uint8Array {
  const view = new DataView(padded.buffer, padded.byteOffset, padded.byteLength)
  if (padded.length < 34) throw unreadable()
  const short = view.getUint16(0)
  const long = short === 0
  const length = long ? view.getUint32(2) : short
  const start = long ? 6 : 2
  if (long && length <= shortLengthMax) throw unreadable()
  if (padded.length !== start + paddedBytes(length)) throw unreadable()
  return padded.subarray(start, start + length)
}

function unreadable(): Refusal {
  return new Refusal('malformed', 'content does not decrypt')
}
