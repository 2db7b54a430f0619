import { ReadableStream } from 'node:stream/web'
import { Decrypter, Encrypter } from 'age-encryption'
import { CannotStart } from '../exit.ts'

/** How every file of age begins. */
export const ageStart = 'age-encryption.org/v1\n'

/** scrypt with 64 MiB, as for key files: what age itself takes, four times as much, a small server may not have. */
const workFactor = 16

/** The bytes as a file of age under a passphrase, which `age -d` opens. Nothing of it is held but a few chunks. */
export async function* sealed(plain: AsyncIterable<Uint8Array>, passphrase: string): AsyncGenerator<Uint8Array> {
  const encrypter = new Encrypter()
  encrypter.setScryptWorkFactor(workFactor)
  encrypter.setPassphrase(passphrase)
  yield* await encrypter.encrypt(ReadableStream.from(plain))
}

/** What is in a file of age. Throws `CannotStart` for another passphrase, and for a file that was changed or is not whole. */
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
