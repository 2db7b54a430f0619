import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { accountVault, createRest, cryptoReady, newId, newUserText, sealDraft, signIn } from '../../lib/client/index.ts'
import { engine } from '../../lib/crypto/index.ts'
import { startServer } from '../kit/server.ts'

t.test("no plaintext and no key of a client is on the server's disk [P3]", async t => {
  await cryptoReady()
  const server = await startServer(t)
  const secret = engine.randomBytes(32)
  const { token } = await signIn({ server: server.url, secret, fetch })
  const rest = createRest({ server: server.url, token, fetch })
  const vault = accountVault(secret)
  const key = vault.newKey()
  const words = 'the plain words of a person'
  const metadata = key.cipher.seal({ path: words })
  const { session } = await rest.call('openSession', { body: { tag: newId(), metadata, dataEncryptionKey: key.wrapped } })
  const { content, localId } = sealDraft(key.cipher, session.id, newUserText(words))
  await rest.call('appendMessages', { params: { id: session.id }, body: { messages: [{ content, localId }] } })
  await rest.call('writeSettings', { body: { settings: vault.settings.seal({ theme: words }), expectedVersion: 0 } })

  // While it runs, so that the log of the database is among the files.
  const disk = filesUnder(server.data)
  t.ok(disk.includes(content) && disk.includes(metadata), 'what was sealed is there')
  const kept: [string, Uint8Array][] = [
    ['the words', Buffer.from(words)],
    ['the secret of the account', secret],
    ['the key of the session', key.raw]
  ]
  for (const [what, bytes] of kept) {
    t.notOk(disk.includes(Buffer.from(bytes)), what)
    t.notOk(disk.includes(Buffer.from(bytes).toString('base64').replace(/=+$/, '')), `${what}, as base64`)
  }
})

function filesUnder(directory: string): Buffer {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(file => file.isFile())
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))))
}
