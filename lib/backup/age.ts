import { ReadableStream } from 'node:stream/web'
import { Decrypter, Encrypter } from 'age-encryption'
import { CannotStart } from '../exit.ts'

/** The first line of every age file. */
export const ageStart = 'age-encryption.org/v1\n'

/**
 * scrypt with 64 MiB, as for key files: age's own default uses four times as much, which a small server may
 * not have.
 */
const workFactor = 16

/** The bytes as an age file under a passphrase, which `age -d` opens. Only a few chunks are in memory. */
export async function* sealed(plain: AsyncIterable<Uint8Array>, passphrase: string): AsyncGenerator<Uint8Array> {
  const encrypter = new Encrypter()
  encrypter.setScryptWorkFactor(workFactor)
  encrypter.setPassphrase(passphrase)
  yield* await encrypter.encrypt(ReadableStream.from(plain))
}

/** The content of an age file. Throws `CannotStart` for another passphrase, and for a changed or truncated file. */
export async function* opened(file: AsyncIterable<Uint8Array>, passphrase: string): AsyncGenerator<Uint8Array> {
  const decrypter = new Decrypter()
  decrypter.addPassphrase(passphrase)
  try {
    yield* await decrypter.decrypt(ReadableStream.from(file))
  } catch (error) {
    const isOtherPassphrase = error instanceof Error && error.message.startsWith('no identity matched')
    throw new CannotStart(isOtherPassphrase ? 'Wrong passphrase for this backup.' : 'The backup is damaged or truncated.', undefined, {
      cause: error
    })
  }
}
