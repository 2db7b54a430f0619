import { Decrypter, Encrypter } from 'age-encryption'
import t from 'tap'
import { formatBackupKey } from '../../../lib/crypto/index.ts'
import { lookAtKeyFile, openKeyFile, sealKeyFile } from '../../../web/keys/file.ts'
import { joining } from '../../../web/words/joining.ts'

const key = formatBackupKey(new Uint8Array(32).map((_, index) => index * 7))
const plain = joining.key.fileText(key, 'https://home.example.org')
const bytes = (text: string) => new TextEncoder().encode(text)

async function seal(text: string) {
  const seen = await lookAtKeyFile(bytes(await sealKeyFile(text, 'four words or so')))
  if (seen.type !== 'sealed') throw new Error(seen.type)
  return seen.sealed
}

t.test('a key file is encrypted with a passphrase and opens with no other', async t => {
  const armored = await sealKeyFile(plain, 'four words or so')
  t.match(armored, /^-----BEGIN AGE ENCRYPTED FILE-----\n/)
  t.notOk(armored.includes(key.slice(0, 5)))
  const sealed = await seal(plain)
  t.match(new TextDecoder().decode(sealed), /^age-encryption\.org\/v1\n-> scrypt \S{22} 16\n/)
  t.same(await openKeyFile(sealed, 'four words or so'), { key })
  t.equal(await openKeyFile(sealed, 'four words or sO'), 'wrong')
  t.equal(await openKeyFile(sealed, ''), 'wrong')
  t.equal(
    await openKeyFile(
      sealed.map((byte, at) => (at === sealed.length - 1 ? byte ^ 1 : byte)),
      'four words or so'
    ),
    'wrong',
    'altered'
  )
})

t.test('any age program opens the file, and ours opens what such a program wrote', async t => {
  const decrypter = new Decrypter()
  decrypter.addPassphrase('four words or so')
  t.equal(await decrypter.decrypt(await seal(plain), 'text'), plain)
  const encrypter = new Encrypter()
  encrypter.setScryptWorkFactor(10)
  encrypter.setPassphrase('theirs')
  const made = await encrypter.encrypt(plain)
  t.same(await lookAtKeyFile(made), { type: 'sealed', sealed: made }, 'without armour, too')
  t.same(await openKeyFile(made, 'theirs'), { key })
})

t.test('an unencrypted key file is read at once, and a file without a key is reported', async t => {
  t.same(await lookAtKeyFile(bytes(plain)), { type: 'key', key })
  t.same(await lookAtKeyFile(bytes('Dear diary')), { type: 'other' })
  t.same(await lookAtKeyFile(bytes(`Made with age-encryption.org/v1\n${plain}`)), { type: 'key', key })
  t.same(await lookAtKeyFile(bytes('-----BEGIN AGE ENCRYPTED FILE-----\nnonsense')), { type: 'other' })
  t.equal(await openKeyFile(await seal('Dear diary'), 'four words or so'), 'other')
})
