import t from 'tap'
import { newEnvelope } from '../../lib/client/sealed/messages.ts'
import { accountVault } from '../../lib/client/sealed/vault.ts'
import { engine } from '../../lib/crypto/index.ts'
import type { MessageBody } from '../../lib/protocol/sealed/messages.ts'
import { openDevices } from '../kit/browser.ts'
import { sealedWorld } from './kit/sealed-world.ts'

const devices = await openDevices(t)

const text = (text: string): MessageBody => ({ role: 'session', content: newEnvelope({ t: 'text', text }, { role: 'agent', turn: 'a' }) })

t.test('a message that cannot be decrypted is replaced by a note, and everything around it is unchanged', async t => {
  const { device, vault, open, say } = await sealedWorld(t, devices)
  const [key, other] = [vault.newKey(), vault.newKey()]
  const id = await open(key, 'Pruning')
  await say(id, key.cipher, text('The first row is pruned.'))
  await device.visit(`/s/${id}`)
  await device.see('The first row is pruned.')
  await say(id, other.cipher, text('Nobody reads this.'))
  await device.see('This message cannot be decrypted with the keys on this device.')
  await say(id, other.cipher, text('Nor this.'))
  await device.see('2 messages cannot be decrypted with the keys on this device.')
  // Two messages may merely be damaged, which does not lock the session.
  t.equal(await device.page.getByRole('textbox', { name: /message/i }).count(), 1)
  await say(id, key.cipher, text('The second row is pruned.'))
  await device.see('The second row is pruned.')
  await device.page.getByRole('textbox', { name: /message/i }).waitFor()
})

t.test('a session that switches to another key says so, and nothing is sent to it until it can be decrypted again', async t => {
  const { device, vault, open, say } = await sealedWorld(t, devices)
  const [key, other] = [vault.newKey(), vault.newKey()]
  const id = await open(key, 'Pruning')
  await say(id, key.cipher, text('The first row is pruned.'))
  await device.visit(`/s/${id}`)
  const writing = device.page.getByRole('textbox', { name: /message/i })
  await writing.fill('And the second?')
  await say(id, other.cipher, text('One.'), text('Two.'), text('Three.'))
  await device.see('The key of this session does not match')
  t.equal(await writing.count(), 0)
  await device.see('The first row is pruned.')
  await say(id, key.cipher, text('It is I again.'))
  await device.see('It is I again.')
  await device.seeNoMore('The key of this session does not match')
  // The draft is kept.
  await device.page.waitForFunction(() => document.querySelector('textarea')?.value === 'And the second?', undefined, { polling: 50 })
})

t.test('a request that this device cannot decrypt is reported as present', async t => {
  const { device, vault, open } = await sealedWorld(t, devices)
  const [key, other] = [vault.newKey(), vault.newKey()]
  const [closed, clear] = [await open(key, 'Pruning', { state: other.cipher }), await open(key, 'Mulching')]
  await device.visit(`/s/${closed}`)
  await device.see('This request from Claude cannot be decrypted')
  await device.see(/Decide on studio-mini/)
  await device.visit(`/s/${clear}`)
  await device.page.getByRole('textbox', { name: /message/i }).waitFor()
  t.equal(await device.page.getByText('cannot be decrypted').count(), 0)
})

t.test('a session made for another account is labelled as such, and shows an explanation instead of a composer', async t => {
  const { device, open } = await sealedWorld(t, devices)
  const id = await open(accountVault(engine.randomBytes(32)).newKey(), 'Not mine')
  await device.visit('/')
  await device.see('This session cannot be decrypted')
  await device.visit(`/s/${id}`)
  await device.see('Its keys are not on this device.')
  t.equal(await device.page.getByRole('textbox').count(), 0)
})
