import { createHmac } from 'node:crypto'
import t from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'

import { openDevices } from '../kit/browser.ts'
import { signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { type Request, startStandIn, tokenOf } from '../server/push/stand-in.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { openPushDevice } from './kit/push-device.ts'

const devices = await openDevices(t)

t.test(
  "notification times are chosen in the device's settings, stored by the server, and kept locally while it is unreachable",
  async t => {
    const server = await startServer(t)
    const device = await devices.open(t, server.url)
    const { page } = device
    await device.createAccount()
    await device.visit('/settings')
    await device.press('Notifications')
    await device.see('Off on this computer')
    await device.see('Your server can read these settings')

    await page.getByLabel('An agent has finished').selectOption('Silent')
    await device.see('Saved')
    await device.press(/^Off/)
    await page.getByLabel('Quiet hours on this device').click()
    await page.getByLabel('To', { exact: true }).fill('06:15')
    await page.getByLabel('Saturday').uncheck()
    await page.getByLabel('Sunday').uncheck()
    await page.getByLabel('Nothing').check()
    await device.press('Back')
    await device.see('22:30 to 06:15, Monday to Friday')
    await device.press('For 1 h')
    await device.see('Snoozed until')
    await device.see('Saved')

    await device.visit('/settings/notifications')
    await device.see('22:30 to 06:15, Monday to Friday')
    t.equal(await page.getByLabel('An agent has finished').inputValue(), 'silent')
    await device.press('End snooze')
    await device.see('Until tomorrow')

    await device.context.setOffline(true)
    await page.getByLabel('A computer goes offline').selectOption('Off')
    await device.see('Not saved yet')
    t.equal(await page.getByLabel('A computer goes offline').inputValue(), 'off', 'the choice is kept')
    await device.context.setOffline(false)
    await device.seeNoMore('Not saved yet')
    await device.see('Saved')
    await device.visit('/settings/notifications')
    await device.see('Notify me when')
    t.equal(await page.getByLabel('A computer goes offline').inputValue(), 'off')
  }
)

t.test('another device of the account has its own settings', async t => {
  const server = await startServer(t)
  const one = await devices.open(t, server.url)
  const key = await one.createAccount()
  const other = await devices.open(t, server.url)
  await other.visit('/restore')
  await other.write('Account key', key)
  await other.press('Restore')
  await other.see('Live')
  for (const [device, how] of [
    [one, 'Silent'],
    [other, 'Off']
  ] as const) {
    await device.visit('/settings/notifications')
    await device.page.getByLabel('An agent has finished').selectOption(how)
    await device.see('Saved')
  }
  await one.visit('/settings/notifications')
  await one.see('Notify me when')
  t.equal(await one.page.getByLabel('An agent has finished').inputValue(), 'silent')
})

t.test(
  'a webhook is added and tested, signs with the secret that was shown, is notified of unanswered decisions, and can be removed and added again',
  async t => {
    const server = await startServer(t, { pushAllow: 'loopback' })
    const service = await startStandIn(t)
    const device = await devices.open(t, server.url)
    const { page } = device
    await device.createAccount()
    await device.visit('/settings/notifications')
    await device.press('Add a webhook')
    await device.write('Address', 'home.example')
    await device.see('That is not a web address.')
    await device.write('Address', `${service.url}/hook`)
    await device.press('Add and send a test')
    await device.see('The test was sent.')
    const secret = (await page.locator('.token').textContent()) ?? ''
    const [request] = await service.came(1)
    t.equal(request?.headers['webhook-signature'], request && signatureOf(request, secret))
    t.match(JSON.parse(String(request?.body)), { type: 'notification', data: { kind: 'test' } })

    await device.press('Done')
    await device.see('Webhook, added here')
    await device.see('1 sent in 7 days')
    t.notMatch(await page.content(), service.url, 'where it leads is not shown again')
    service.answer = () => ({ status: 403 })
    await device.press(/^Webhook, added here/)
    await device.press('Send a test')
    await device.see('That server requires an access token.')
    await device.press('Back')

    await device.press('Notify no one else')
    await page.getByLabel('After 5 min').check()
    await device.see('Saved')
    await device.press('Back')
    await device.see('After 5 min, also notify Webhook, added here')

    await device.press(/^Webhook, added here/)
    await device.press('Remove')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await device.see('Removed. It gets no more notifications.')
    await device.seeNoMore('Webhook, added here')
    await device.press('Undo')
    await device.see('Webhook, added here')
  }
)

t.test('several webhooks are notified of unanswered decisions in turn, in an order that can be changed', async t => {
  const server = await startServer(t, { pushAllow: 'loopback' })
  const ada = await signUp(t, server)
  const url = 'http://127.0.0.1:9/a'
  for (const token of [tokenOf('Ntfy', { url }), tokenOf('Webhook', { url, secret: `whsec_${'a'.repeat(44)}` })]) {
    await ada.call('POST', '/v1/push-tokens', { body: { token } })
  }
  const device = await devices.open(t, server.url)
  const { page } = device
  await device.visit('/restore')
  await device.write('Account key', formatBackupKey(ada.secret))
  await device.press('Restore')
  await device.see('Live')
  await device.visit('/settings/notifications/unanswered')
  await page.getByLabel('After 5 min').check()
  const rows = page.getByRole('listitem').filter({ has: page.getByRole('checkbox') })
  await rows.nth(1).getByRole('checkbox').check()
  await device.see('After 10 min')
  const [first, second] = await rows.allInnerTexts()
  await page.getByRole('button', { name: /^Notify .* sooner/ }).click()
  await rows
    .nth(0)
    .filter({ hasText: second?.split('\n')[0] ?? '' })
    .waitFor()
  t.match((await rows.allInnerTexts())[0], 'After 5 min')
  t.match((await rows.allInnerTexts())[1], first?.split('\n')[0])
  await device.see('Saved')
  await device.visit('/settings/notifications/unanswered')
  await rows
    .nth(0)
    .filter({ hasText: second?.split('\n')[0] ?? '' })
    .waitFor()
})

t.test('an address that the server may not reach is rejected with the solution', async t => {
  const server = await startServer(t)
  const service = await startStandIn(t)
  const device = await devices.open(t, server.url)
  await device.createAccount()
  await device.visit('/settings/notifications/ntfy')
  await device.see(/^https:\/\/ntfy\.sh\/afield-/)
  await device.page.getByLabel('My own').check({ force: true })
  await device.write('Address', service.url)
  await device.see(/^http:\/\/127\.0\.0\.1:\d+\/afield-/)
  await device.press('Add and send a test')
  await device.see(/--push-allow/)
  t.same(service.requests, [])
})

t.test(
  'two notifications that do not reach this browser are reported, here and on Home; a test is followed until it is shown and tapped',
  async t => {
    const clock = { offset: -6 * 60_000 }
    const server = await startServer(t, { pushAllow: 'loopback', now: () => Date.now() + clock.offset })
    const service = await startStandIn(t)
    const { secret } = await signUp(t, server)
    const phone = await openPushDevice(t, devices, { url: server.url, service, secret, name: 'one' })
    const { device } = phone
    const drawing = (name: string) => device.page.getByRole('img', { name }).waitFor()
    await device.visit('/settings/notifications')
    await device.see('On a computer they stay off until you turn them on here.')
    await device.press('Turn on')
    await device.see('Not tried yet')

    await phone.ask('POST', '/v1/notifications/test', {})
    await phone.ask('POST', '/v1/notifications/test', {})
    clock.offset = 0
    await device.visit('/')
    await device.press('See why')
    await device.see('Not reaching this computer')
    await device.see('They arrive only while the browser runs')
    await drawing('Last 2: none arrived')

    await device.press('Send a test')
    await device.see('Waiting for it to be shown')
    for (const _ of [1, 2]) await phone.next('test')
    await phone.deliver('test')
    await device.see('Shown after')
    await device.see('Reaching this computer')
    await drawing('Last 3: 2 did not arrive')
    t.equal(await device.page.getByText('They arrive only while the browser runs').count(), 0)
    await phone.until(all => all.length === 1)
    await phone.tap()
    await device.see('Tapped after')
    await device.visit('/')
    await device.see('Live')
    await device.seeNoMore('See why')
  }
)

t.test('a muted session notifies this device only of decisions', async t => {
  const server = await startServer(t, { pushAllow: 'loopback' })
  const service = await startStandIn(t)
  const { phone: account, home } = await linkedComputer(t, server)
  runWrapper(t, { home, args: ['demo'] })
  const { id } = await account.session()
  const phone = await openPushDevice(t, devices, { url: server.url, service, secret: account.secret, name: 'one' })
  const { device } = phone
  await device.visit('/settings/notifications')
  await device.press('Turn on')
  await device.see('Not tried yet')
  await device.visit(`/s/${id}`)
  await device.press('Session menu')
  await device.page.getByRole('menuitem', { name: 'Notifications' }).click()
  await device.page.getByLabel('Decisions only').check()
  await device.see('Saved')
  await phone.leave()

  const person = await signUp(t, server, account.secret)
  const tell = (kind: string) =>
    person.call('POST', `/v1/sessions/${id}/push-event`, { body: { kind, title: 'T', body: 'B', noticeId: kind } })
  t.match((await tell('done')).body, { result: 'suppressed' })
  t.match((await tell('permission')).body, { result: 'sent' })
  await phone.next('permission')
})

function signatureOf({ headers, body }: Request, secret: string): string {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const mac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64')).update(signed)
  return `v1,${mac.digest('base64')}`
}
