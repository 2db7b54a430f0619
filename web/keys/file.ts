/** The text of a key file, encrypted with a passphrase in the age format, which other programs open too. */
export async function sealKeyFile(text: string, passphrase: string): Promise<string> {
  const { Encrypter, armor } = await import('./age.ts')
  const encrypter = new Encrypter()
  encrypter.setScryptWorkFactor(workFactor)
  encrypter.setPassphrase(passphrase)
  return armor.encode(await encrypter.encrypt(text))
}

/** scrypt with 64 MiB, about a second on a phone. The default of age is four times as much, which a phone may not have. */
const workFactor = 16

/** How a file can be read: immediately, with a passphrase, or not at all. */
type KeyFileSeen = { type: 'key'; key: string } | { type: 'sealed'; sealed: Uint8Array } | { type: 'other' }

export async function lookAtKeyFile(bytes: Uint8Array): Promise<KeyFileSeen> {
  const text = new TextDecoder().decode(bytes)
  if (text.startsWith('age-encryption.org/')) return { type: 'sealed', sealed: bytes }
  if (text.includes('-----BEGIN AGE ENCRYPTED FILE-----')) {
    const { armor } = await import('./age.ts')
    try {
      return { type: 'sealed', sealed: armor.decode(text.trim()) }
    } catch {
      return { type: 'other' }
    }
  }
  const key = keyIn(text)
  return key === undefined ? { type: 'other' } : { type: 'key', key }
}

/** The key in an encrypted file; `wrong`: another passphrase; `other`: the file contains something else. */
export async function openKeyFile(sealed: Uint8Array, passphrase: string): Promise<{ key: string } | 'wrong' | 'other'> {
  const { Decrypter } = await import('./age.ts')
  const decrypter = new Decrypter()
  decrypter.addPassphrase(passphrase)
  try {
    const key = keyIn(await decrypter.decrypt(sealed, 'text'))
    return key === undefined ? 'other' : { key }
  } catch {
    return 'wrong'
  }
}

function keyIn(text: string): string | undefined {
  return /\b(?:[A-Z2-7]{5}-){10}[A-Z2-7]{2}\b/.exec(text)?.[0]
}
