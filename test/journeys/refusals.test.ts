import t from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { openDevices } from '../kit/browser.ts'
import { signInBody } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { sealedWorld } from './kit/sealed-world.ts'

const devices = await openDevices(t)

t.test('messages that a full server rejects wait here, with a note, and are sent when there is space [Q2]', async t => {
  let messages = 0
  const { device, vault, person, open } = await sealedWorld(t, devices, { policy: { quotas: () => ({ messages }) } })
  const id = await open(vault.newKey(), 'Pruning')
  await device.visit(`/s/${id}`)
  await device.page.getByRole('textbox', { name: /message/i }).fill('Prune the quinces')
  await device.page.getByRole('button', { name: /^(Send|Queue)/ }).click()
  await device.see('The server is out of space')
  await device.see('Agents keep working and queue their messages. Yours wait here.')
  await device.see('Prune the quinces')
  messages = 10
  await device.seeNoMore('The server is out of space')
  await device.see('Prune the quinces')
  t.equal((await person.call('GET', '/v1/account/storage')).body.messages, 1)
})

t.test('after too many attempts, the time of the next possible one is shown', async t => {
  const server = await startServer(t, { limits: 'default' })
  const device = await devices.open(t, server.url)
  const secret = crypto.getRandomValues(new Uint8Array(32))
  const body = JSON.stringify(await signInBody(secret))
  const ask = () => fetch(`${server.url}/v1/auth`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  while ((await ask()).status !== 429);
  await device.visit('/restore')
  await device.write('Account key', formatBackupKey(secret))
  await device.press('Restore')
  await device.see('Too many attempts')
  await device.see(/Try again in (\d+ min )?\d+ (s|min)/)
})

t.test('an agent at its limit says until when, and continues automatically if asked to', async t => {
  const { device, vault, open, say } = await sealedWorld(t, devices)
  const key = vault.newKey()
  const id = await open(key, 'Pruning')
  await device.visit(`/s/${id}`)
  const endsAt = Date.now() + 8_000
  await say(id, key.cipher, { role: 'agent', content: { type: 'event', data: { type: 'limit-reached', endsAt } } })
  await device.see(/^Usage limit reached. It resets at \d+:\d+/)
  await device.press('Continue then')
  await device.page.getByRole('log').getByText('Continue.', { exact: true }).waitFor()
  await device.page.getByRole('button', { name: 'Continue then' }).waitFor({ state: 'hidden' })
  t.ok(Date.now() >= endsAt - 1000, 'not before')
})
