import t, { type Test } from 'tap'
import { newEnvelope, newId, sealDraft } from '../../lib/client/messages.ts'
import { createRest } from '../../lib/client/rest.ts'
import { type AccountVault, accountVault } from '../../lib/client/vault.ts'
import { type Cipher, engine, formatBackupKey } from '../../lib/crypto/index.ts'
import { openDevices } from '../kit/browser.ts'
import { signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'

const devices = await openDevices(t)

/** A device, and sessions whose words are sealed with whatever key the test says. */
async function world(t: Test) {
  const server = await startServer(t)
  const person = await signUp(t, server)
  const vault = accountVault(person.secret)
  const rest = createRest({ server: server.url, token: person.token, fetch })
  const device = await devices.open(t, server.url)
  await device.visit('/restore')
  await device.write('Account key', formatBackupKey(person.secret))
  await device.press('Restore')
  await device.see('Live')
  return {
    device,
    vault,
    async open(key: ReturnType<AccountVault['newKey']>, title: string): Promise<string> {
      const about = { path: '/home/mira/orchard', host: 'studio-mini', summary: { text: title, updatedAt: Date.now() } }
      const body = { tag: newId(), metadata: key.cipher.seal(about), agentState: key.cipher.seal({}), dataEncryptionKey: key.wrapped }
      return (await rest.call('openSession', { body })).session.id
    },
    async say(id: string, cipher: Cipher, ...texts: string[]): Promise<void> {
      const messages = texts.map(text =>
        sealDraft(cipher, id, { role: 'session', content: newEnvelope({ t: 'text', text }, { role: 'agent', turn: 'a' }) })
      )
      await rest.call('appendMessages', { params: { id }, body: { messages } })
    }
  }
}

t.test('a message that does not open is passed over in words, and all around it stays as it was', async t => {
  const { device, vault, open, say } = await world(t)
  const [key, other] = [vault.newKey(), vault.newKey()]
  const id = await open(key, 'Pruning')
  await say(id, key.cipher, 'The first row is pruned.')
  await device.visit(`/s/${id}`)
  await device.see('The first row is pruned.')
  await say(id, other.cipher, 'Nobody reads this.')
  await device.see('This message cannot be opened with the keys on this device.')
  await say(id, other.cipher, 'Nor this.')
  await device.see('2 messages cannot be opened with the keys on this device.')
  await say(id, key.cipher, 'The second row is pruned.')
  await device.see('The second row is pruned.')
  await device.page.getByRole('textbox', { name: /message/i }).waitFor()
})

t.test('a session that speaks with another key says so, and nothing is sent into it until it is understood again', async t => {
  const { device, vault, open, say } = await world(t)
  const [key, other] = [vault.newKey(), vault.newKey()]
  const id = await open(key, 'Pruning')
  await say(id, key.cipher, 'The first row is pruned.')
  await device.visit(`/s/${id}`)
  const writing = device.page.getByRole('textbox', { name: /message/i })
  await writing.fill('And the second?')
  await say(id, other.cipher, 'One.', 'Two.', 'Three.')
  await device.see('The key of this session does not match')
  t.equal(await writing.count(), 0)
  await device.see('The first row is pruned.')
  await say(id, key.cipher, 'It is I again.')
  await device.see('It is I again.')
  await device.seeNoMore('The key of this session does not match')
  // What was being written is kept.
  await device.page.waitForFunction(() => document.querySelector('textarea')?.value === 'And the second?', undefined, { polling: 50 })
})

t.test('a session that was made for another account is named as such, and opens to words instead of a composer', async t => {
  const { device, open } = await world(t)
  const id = await open(accountVault(engine.randomBytes(32)).newKey(), 'Not mine')
  await device.visit('/')
  await device.see('This session cannot be opened')
  await device.visit(`/s/${id}`)
  await device.see('It was made with keys that are not on this device.')
  t.equal(await device.page.getByRole('textbox').count(), 0)
})
