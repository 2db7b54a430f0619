import { readFileSync } from 'node:fs'
import t from 'tap'
import { verifyMinisign } from '../../lib/upgrade/minisign.ts'

// Keys, content and signatures were made with the program minisign, 0.11.
const read = (name: string) => readFileSync(`test/fixtures/minisign/${name}`, 'utf8')
const keys = read('release-key.pub')
const content = Buffer.from(read('content.json'))
const signature = read('content.json.minisig')

t.test('signatures of the program minisign are verified, prehashed and not [V1]', async t => {
  t.equal(verifyMinisign({ keys, content, signature }), 'valid')
  t.equal(verifyMinisign({ keys, content, signature: read('content.json.legacy.minisig') }), 'valid')
  t.equal(verifyMinisign({ keys, content, signature: signature.replaceAll('\n', '\r\n') }), 'valid', 'as a mail program may store it')
})

t.test('a signature with an unknown key is named as such, and with several keys each is accepted [V1]', async t => {
  const other = read('content.json.other.minisig')
  t.equal(verifyMinisign({ keys, content, signature: other }), 'unknown-key')
  t.equal(verifyMinisign({ keys: keys + read('other-key.pub'), content, signature: other }), 'valid')
  t.equal(verifyMinisign({ keys: '', content, signature }), 'unknown-key')
})

t.test('no change of content, signature or comments passes [V1]', async t => {
  const changed = Buffer.from(content)
  changed.writeUInt8(changed.readUInt8(3) ^ 1, 3)
  t.equal(verifyMinisign({ keys, content: changed, signature }), 'invalid')
  t.equal(verifyMinisign({ keys, content, signature: signature.replace('release 0.2.0', 'release 0.3.0') }), 'invalid')
  // The untrusted comment is not signed.
  t.equal(verifyMinisign({ keys, content, signature: signature.replace('signature from', 'words about') }), 'valid')
  const [, first = '', , second = ''] = signature.split('\n')
  for (const line of [first, second]) {
    for (let at = 0; at < line.length - 2; at += 7) {
      const other = line[at] === 'A' ? 'B' : 'A'
      const verdict = verifyMinisign({ keys, content, signature: signature.replace(line, line.slice(0, at) + other + line.slice(at + 1)) })
      t.not(verdict, 'valid', `character ${at}`)
    }
  }
  for (const broken of [
    '',
    'x',
    signature.slice(0, 120),
    `${signature}more\n`,
    signature.replace('trusted comment: release', 'comment: release')
  ])
    t.equal(verifyMinisign({ keys, content, signature: broken }), 'invalid')
})
