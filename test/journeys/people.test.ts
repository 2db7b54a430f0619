import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'

const devices = await openDevices(t)

t.test('a new person waits until the owner, who sees the same four words, lets them in', async t => {
  const server = await startServerProcess(t, { signup: 'approve' })
  const owner = await devices.open(t, server.url)
  await owner.createAccount({ setupCode: readFileSync(join(server.data, 'setup-code'), 'utf8').trim() })

  const guest = await devices.open(t, server.url)
  await guest.visit('/start')
  await guest.press('Create my account')
  await guest.see('The owner has been asked')
  const words = await guest.page.locator('.words-4').innerText()
  t.match(words, /^[a-z]{5} [a-z]{5} [a-z]{5} [a-z]{5}$/)
  await guest.press('Ask again')
  await guest.see('The owner has been asked')
  t.equal(await guest.page.locator('.words-4').innerText(), words, 'it is the same key that asks again')

  await owner.visit('/settings')
  await owner.press(/^People/)
  await owner.see(words)
  await owner.press('Approve')
  await owner.see('No one is waiting.')
  await guest.press('Ask again')
  await guest.see('Write down your account key')
  await guest.press('Later, remind me tomorrow')
  await guest.see('Live')
  await guest.visit('/settings')
  await guest.see('Access keys')
  await guest.visit('/settings/people')
  await guest.see('Only the server owner can admit people')
})

t.test('an invitation opens the server once, and leaves the address bar at once', async t => {
  const server = await startServerProcess(t, { signup: 'invite' })
  const owner = await devices.open(t, server.url)
  await owner.createAccount({ setupCode: readFileSync(join(server.data, 'setup-code'), 'utf8').trim() })
  await owner.visit('/settings/people')
  await owner.press('Invite someone')
  await owner.write('For whom', 'Mira')
  await owner.press('Create link')
  const link = await owner.copied('Copy link')
  t.match(link, /#invite=[\w-]{22}$/)
  t.ok(link.startsWith(server.url))

  const stranger = await devices.open(t, server.url)
  await stranger.visit('/start')
  await stranger.press('Create my account')
  await stranger.see('You need an invitation from the owner of this server.')
  await stranger.write('Invitation code', 'AAAAAAAAAAAAAAAAAAAAAA')
  await stranger.press('Create my account')
  await stranger.see('This invitation is not valid.')

  const guest = await devices.open(t, server.url)
  await guest.page.goto(link)
  await guest.see('You were invited to this server.')
  t.notMatch(guest.page.url(), /invite/)
  await guest.press('Create my account')
  await guest.see('Write down your account key')

  const late = await devices.open(t, server.url)
  await late.page.goto(link)
  await late.press('Create my account')
  await late.see('This invitation is not valid.')

  await owner.visit('/settings/people')
  await owner.see('Mira')
  await owner.see('Used')
  await owner.press('Remove Mira')
  await owner.see('No open invitations.')
})

t.test('a device is renamed, and a program gets a key that is shown once and ends when it is revoked', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  await phone.createAccount()

  await phone.visit('/settings/devices')
  await phone.press(/^Rename /)
  await phone.write(/^Name$/, 'Pocket')
  await phone.press('Save')
  await phone.press('Rename Pocket')
  await phone.visit('/settings')

  await phone.press(/^Access keys/)
  await phone.see('No access keys yet.')
  await phone.press('Create access key')
  await phone.write('Name of the program', 'Weekly report')
  await phone.page.getByRole('dialog').getByRole('button', { name: 'Create access key' }).click()
  const key = await phone.copied('Copy key')
  const ask = async (path: string) => (await fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } })).status
  t.equal(await ask('/v1/sessions'), 200)
  t.equal(await ask('/v1/devices'), 403, 'it can only read')

  await phone.visit('/settings/access')
  t.notOk(await phone.page.getByText(key).count(), 'it is not shown again')
  await phone.press('Revoke Weekly report')
  await phone.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await phone.see('No access keys yet.')
  t.equal(await ask('/v1/sessions'), 401)
})
