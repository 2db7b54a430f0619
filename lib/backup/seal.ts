import crypto from 'node:crypto'
import { promisify } from 'node:util'
import { argon2idAsync } from '@noble/hashes/argon2.js'
import sodium from 'libsodium-wrappers'
import { CannotStart } from '../exit.ts'
import { exactly, type ReadBytes } from './bytes.ts'

/** The header of a sealed backup, from which its key is derived again with the passphrase. */
export interface Sealing {
  cipher: 'argon2id+xchacha20poly1305'
  salt: string
  passes: number
  memoryKiB: number
}

const chunkBytes = 64 * 1024
const sealedChunkBytes = chunkBytes + 17

export function newSealing(): Sealing {
  const salt = Buffer.from(sodium.randombytes_buf(16)).toString('base64')
  return { cipher: 'argon2id+xchacha20poly1305', salt, passes: 3, memoryKiB: 64 * 1024 }
}

/** The key of a backup. Takes about half a second, so that a passphrase cannot be guessed quickly. */
export function sealingKey(passphrase: string, sealing: Sealing): Promise<Uint8Array> {
  const message = Buffer.from(passphrase.normalize('NFKC'))
  return hasArgon2 ? nativeKey(message, sealing) : portableKey(message, sealing)
}

/** Node.js before 24.7 has no implementation of its own. */
const hasArgon2 = typeof crypto.argon2 === 'function'

function nativeKey(message: Uint8Array, { salt, passes, memoryKiB }: Sealing): Promise<Uint8Array> {
  const parameters = { message, nonce: Buffer.from(salt, 'base64'), parallelism: 1, tagLength: 32, memory: memoryKiB, passes }
  return promisify(crypto.argon2)('argon2id', parameters)
}

/** The same, several times slower. */
export function portableKey(message: Uint8Array, { salt, passes, memoryKiB }: Sealing): Promise<Uint8Array> {
  return argon2idAsync(message, Buffer.from(salt, 'base64'), { t: passes, m: memoryKiB, p: 1, dkLen: 32 })
}

/** The chunks of a file as libsodium's secretstream: none can be changed, left out, moved or cut off unnoticed. */
export async function* sealed(plain: AsyncIterable<Uint8Array>, key: Uint8Array): AsyncGenerator<Uint8Array> {
  const { state, header } = sodium.crypto_secretstream_xchacha20poly1305_init_push(key)
  yield header
  const push = (chunk: Uint8Array, isLast: boolean) => {
    const { crypto_secretstream_xchacha20poly1305_TAG_FINAL: last, crypto_secretstream_xchacha20poly1305_TAG_MESSAGE: other } = sodium
    return sodium.crypto_secretstream_xchacha20poly1305_push(state, chunk, null, isLast ? last : other)
  }
  let waiting: Uint8Array | undefined
  for await (const chunk of inChunks(plain)) {
    if (waiting) yield push(waiting, false)
    waiting = chunk
  }
  yield push(waiting ?? new Uint8Array(), true)
}

export async function* unsealed(read: ReadBytes, key: Uint8Array): AsyncGenerator<Uint8Array> {
  const header = await exactly(read, sodium.crypto_secretstream_xchacha20poly1305_HEADERBYTES)
  const state = sodium.crypto_secretstream_xchacha20poly1305_init_pull(header, key)
  for (let isFirst = true; ; isFirst = false) {
    const chunk = await read(sealedChunkBytes)
    if (chunk.length === 0) throw new CannotStart('The backup is truncated: its end is missing.')
    const opened = sodium.crypto_secretstream_xchacha20poly1305_pull(state, chunk, null)
    if (!opened) throw new CannotStart(isFirst ? 'Wrong passphrase for this backup.' : 'The backup is damaged.')
    yield opened.message
    if (opened.tag !== sodium.crypto_secretstream_xchacha20poly1305_TAG_FINAL) continue
    if ((await read(1)).length > 0) throw new CannotStart('The backup is damaged: there is data after its end.')
    return
  }
}

async function* inChunks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held = Buffer.alloc(0)
  for await (const piece of bytes) {
    held = held.length === 0 ? Buffer.from(piece) : Buffer.concat([held, piece])
    for (; held.length >= chunkBytes; held = held.subarray(chunkBytes)) yield held.subarray(0, chunkBytes)
  }
  if (held.length > 0) yield held
}
