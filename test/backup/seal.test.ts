import t from 'tap'
import { portableKey, sealingKey } from '../../lib/backup/seal.ts'

t.test('the key of a passphrase is the same on every version of Node.js', async t => {
  const sealing = { cipher: 'argon2id+xchacha20poly1305', salt: Buffer.alloc(16, 7).toString('base64'), passes: 1, memoryKiB: 64 } as const
  const key = Buffer.from(await sealingKey('a passphrase', sealing)).toString('hex')
  t.equal(Buffer.from(await portableKey(Buffer.from('a passphrase'), sealing)).toString('hex'), key)
  t.equal(key.length, 64)
  t.not(Buffer.from(await sealingKey('another', sealing)).toString('hex'), key)
})
