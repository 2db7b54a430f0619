import t from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { openDevices } from '../kit/browser.ts'
import { pick, row, worldWithDaemon } from './kit/daemon-world.ts'

const devices = await openDevices(t)

t.test('a session is archived and restored; a new message in it restores it on every device', async t => {
  const { device, witness, session } = await worldWithDaemon(t, devices, 'Apples are in.')
  const { page } = device
  const { hostPid } = session.metadata
  await pick(device, /^More for /, 'Archive')
  await device.see('Archived. Its agent will end shortly.')
  await device.seeNoMore('Apples are in.')
  await device.press('Undo')
  await row(device, 'Apples are in.').waitFor()
  t.equal((await witness.sessions()).find(({ id }) => id === session.id)?.active, true)
  await session.say('SCRIPT: text Plums are in.')
  await session.until(({ events }) => events().some(event => event.t === 'text' && event.text.includes('Plums are in.')))
  t.equal(session.metadata.hostPid, hostPid, 'its agent was left alone')

  await pick(device, /^More for /, 'Archive')
  await device.press('Archive, 1 session')
  await row(device, 'Plums are in.').click()
  // The agent ends once archiving can no longer be undone.
  await page.getByPlaceholder('Send a message to resume').fill('SCRIPT: text Pears are in.')
  await device.press('Send')
  await page.getByRole('log').getByText('Pears are in.', { exact: true }).waitFor()
  await device.visit('/')
  await row(device, 'Pears are in.').waitFor()
  t.equal(await page.getByRole('link', { name: /^Archive/ }).count(), 0)
})

t.test('sessions are selected, archived and, after confirmation, deleted from the archive', async t => {
  const { device, witness, session, url } = await worldWithDaemon(t, devices, 'Apples are in.')
  const other = await devices.open(t, url)
  await other.visit('/restore')
  await other.write('Account key', formatBackupKey(witness.secret))
  await other.press('Restore')
  await other.see('Live')
  await other.visit(`/s/${session.id}`)
  await other.page.getByRole('log').getByText('Apples are in.', { exact: true }).waitFor()
  await pick(device, /^More for /, 'Select')
  await device.see('1 selected')
  await device.page.getByRole('toolbar').getByRole('button', { name: 'Archive' }).click()
  await device.press('Archive, 1 session')
  await device.see(/Uses \d.* on the server\./)
  await device.press('Select')
  await device.press('Select all')
  await device.press('Delete')
  await device.see('Delete 1 session?')
  await device.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await device.see('Nothing archived yet')
  t.notOk(
    (await witness.sessions()).some(({ id }) => id === session.id),
    'the server has it no more'
  )
  await other.see(/This session was deleted on \S.*, \d/)
})
