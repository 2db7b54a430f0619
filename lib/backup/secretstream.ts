import { argon2idAsync } from '@noble/hashes/argon2.js'
import sodium from 'libsodium-wrappers'
import { CannotStart } from '../exit.ts'
import { exactly, type ReadBytes } from './bytes.ts'

// How backups were encrypted before they became age files. This reads those that people still have.

/** The header of such a backup, from which its key can be derived from the passphrase. */
interface Sealing {
  cipher: 'argon2id+xchacha20poly1305'
  salt: string
  passes: number
  memoryKiB: number
}

const sealedChunkBytes = 64 * 1024 + 17

/** The key of such a backup. */
export function sealingKey(passphrase: string, { salt, passes, memoryKiB }: Sealing): Promise<Uint8Array> {
  const words = Buffer.from(passphrase.normalize('NFKC'))
  return argon2idAsync(words, Buffer.from(salt, 'base64'), { t: passes, m: memoryKiB, p: 1, dkLen: 32 })
}

/** The chunks of a file in libsodium's secretstream: none can be changed, left out, moved or cut off unnoticed. */
export async function* unsealed(read: ReadBytes, key: Uint8Array): AsyncGenerator<Uint8Array> {
  await sodium.ready
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
