import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { startStandIn } from '../server/push/stand-in.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { type Owner, openPushDevice, type PushDevice } from './kit/push-device.ts'

const devices = await openDevices(t)

/** Phones of one account with notifications on and the app in the background, and a session of a real wrapper. */
async function world(t: Test, names: readonly string[]) {
  const service = await startStandIn(t)
  const serve = { data: join(t.testdir(), 'data'), args: ['--push-allow', 'loopback'] }
  const server = await startServerProcess(t, serve)
  const { phone: account, home } = await linkedComputer(t, server)
  runWrapper(t, { home, args: ['demo'] })
  const session = await account.session()
  const phones: PushDevice[] = []
  const open = (name: string, owner?: Owner) =>
    openPushDevice(t, devices, { url: server.url, service, secret: account.secret, name, ...(owner && { owner }) })
  for (const name of names) {
    const phone = await open(name)
    const isKnown = phone.device.page.waitForResponse(
      response => response.url().endsWith('/v1/push-tokens') && response.request().method() === 'POST'
    )
    await phone.device.visit('/settings/notifications')
    await phone.device.press('Turn on')
    t.equal((await isKnown).status(), 200, 'the server knows this device')
    await phone.choose({ previews: true, watchedMinutes: 0 })
    await phone.leave()
    phones.push(phone)
  }
  const run = (command: string) => session.say(`SCRIPT: tool exec ${JSON.stringify({ command })}`)
  const restart = async () => {
    await server.kill()
    return () => startServerProcess(t, { ...serve, port: Number(new URL(server.url).port) })
  }
  /** The number of channels that the server knows. */
  const channels = async () => {
    const answer = await fetch(`${server.url}/v1/notifications`, { headers: { authorization: `Bearer ${account.token}` } })
    return ((await answer.json()) as NotificationsReply).channels.length
  }
  return {
    ...{ home, session, phones, run, restart, channels, open },
    get first() {
      const [first] = phones
      if (!first) throw new Error('Name a phone.')
      return first
    }
  }
}

const completed = (session: PhoneSession) => Object.values(session.state.completedRequests ?? {})
const one = (all: readonly unknown[]) => all.length === 1

t.test('a notification shows the request, its button answers a real agent, and it closes elsewhere [P8, P9]', async t => {
  const { home, session, phones, first, run } = await world(t, ['one', 'other'])
  const other = phones[1] ?? first
  await run('touch never')
  await first.deliver('permission')
  await other.deliver('permission')
  const [shown] = await first.until(one)
  t.match(shown, { title: /^Run a command\? /, body: 'touch never' })
  t.same(shown?.actions.slice(0, 2), ['open', 'deny'], 'allowing has to be turned on first')
  await other.device.context.addInitScript(() => {
    if (location.protocol !== 'about:') localStorage.removeItem('afield-watched-minutes')
  })
  await other.device.visit('/')
  await other.device.see('Live')
  // It has read the settings, so it is listening: a notification that closes now was not merely found answered at startup.
  await other.device.page.waitForFunction(() => localStorage.getItem('afield-watched-minutes') === '0')
  t.equal((await other.notified()).length, 1, 'it is open still')

  await first.tap('deny')
  await session.until(now => one(completed(now)))
  t.match(completed(session), [{ status: 'denied', answeredBy: String }])
  t.equal(existsSync(join(home, 'demo/never')), false)
  const [told] = await first.until(([only]) => only?.body === 'Applied: denied')
  t.same(told?.actions, [])
  await other.until(all => all.length === 0)

  const { channels } = (await other.ask('GET', '/v1/notifications')) as NotificationsReply
  t.same(
    channels.map(({ health }) => health.arrived),
    [1, 1],
    'both said that it came'
  )

  await run('touch later')
  await first.deliver('permission')
  await first.until(([only]) => only?.body === 'touch later')
  const [id = ''] = Object.keys(session.state.requests ?? {})
  await session.call('permission', { id, approved: false, decision: 'denied' })
  await first.tap('deny')
  await first.until(([only]) => only?.body.startsWith('Nothing was sent') === true)

  await run('touch last')
  await first.deliver('permission')
  await first.until(([only]) => only?.body === 'touch last')
  const [last = ''] = Object.keys(session.state.requests ?? {})
  await session.call('permission', { id: last, approved: false, decision: 'denied' })
  await session.until(now => completed(now).length === 3)
  await first.device.visit('/')
  await first.until(all => all.length === 0)
})

interface NotificationsReply {
  channels: { health: { arrived: number } }[]
}

t.test('a plain command can be allowed from its notification only after the person turned that on', async t => {
  const { home, session, first, run } = await world(t, ['one'])
  await run('touch made')
  await first.deliver('permission')
  await first.until(one)
  // Browsers no longer show this button, but an older notification may still have it.
  await first.tap('allow')
  t.same(await first.until(([only]) => only?.body !== 'touch made'), [], 'it closes, and the app is opened')
  t.same(completed(session), [])
  const [id = ''] = Object.keys(session.state.requests ?? {})
  await session.call('permission', { id, approved: false, decision: 'denied' })

  const { page } = first.device
  await first.device.visit('/settings/notifications')
  await page.getByLabel('Allow once').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await first.leave()
  await run('touch made')
  await first.deliver('permission')
  const [shown] = await first.until(([only]) => only?.body === 'touch made')
  t.same(shown?.actions.slice(0, 2), ['allow', 'deny'])
  await first.tap('allow')
  await first.until(([only]) => only?.body === 'Applied: allowed once')
  await session.until(({ state }) => Object.values(state.completedRequests ?? {}).some(({ status }) => status === 'approved'))
  await session.until(() => existsSync(join(home, 'demo/made')))
})

t.test('a phone with a session asks for permission once, upon a tap, and explains how to undo a no; a desktop does not ask', async t => {
  const { open, channels } = await world(t, [])
  const owner: Owner = { device: 'phone', answer: 'default' }
  const { device } = await open('one', owner)
  await device.see('Hear from agents when they are stuck')
  await device.press('Turn on')
  await device.see('Hear from agents when they are stuck')
  owner.answer = 'granted'
  await device.press('Turn on')
  await device.seeNoMore('Hear from agents when they are stuck')
  await device.visit('/settings/notifications')
  await device.see('Not tried yet')
  t.equal(await channels(), 1)

  const refused = await open('other', { device: 'phone', answer: 'denied' })
  await refused.device.press('Turn on')
  await refused.device.see('Notifications are blocked for this site')
  await refused.device.press('See how')
  await refused.device.see('then Permissions, then Notifications')
  t.equal(await channels(), 1)

  const desk = await open('third', { device: 'desk', answer: 'granted' })
  await desk.device.visit('/settings/notifications')
  await desk.device.see('On a computer they stay off until you turn them on here.')
  await desk.device.visit('/')
  await desk.device.page.locator('a.row').first().waitFor()
  t.equal(await desk.device.page.getByText('Hear from agents').count(), 0)
})

t.test('where the command is hidden it can still be denied, as long as it is the only request', async t => {
  const { session, first, run } = await world(t, ['one'])
  await first.choose({ previews: false, watchedMinutes: 0 })
  await run('touch never')
  await first.deliver('permission')
  const [shown] = await first.until(one)
  t.notMatch(JSON.stringify(shown), 'touch')
  t.same(shown?.actions, ['open', 'deny'])
  await first.tap('deny')
  await session.until(now => one(completed(now)))
  t.match(completed(session), [{ status: 'denied', answeredBy: String }])
  await first.until(([only]) => only?.body === 'Applied: denied')
})

t.test('turned off, the server forgets the device', async t => {
  const { first, channels } = await world(t, ['one'])
  t.equal(await channels(), 1)
  await first.device.visit('/settings/notifications')
  const forgotten = first.device.page.waitForResponse(response => response.request().method() === 'DELETE')
  await first.device.press(/^Turn off/)
  t.equal((await forgotten).status(), 200)
  t.equal(await channels(), 0)
})

t.test('a question is answered with words in its notification [P8]', async t => {
  const { session, first } = await world(t, ['one'])
  await session.say('SCRIPT: ask How shall the gate be called?')
  await first.deliver('question')
  t.match(await first.until(one), [{ body: 'How shall the gate be called?' }])
  await first.tap('reply', 'The green one')
  await first.until(([only]) => only?.body === 'Applied: answered')
  await session.until(({ messages }) => JSON.stringify(messages).includes('answer: The green one'))
})

t.test('when the browser renews its subscription, the server gets it without any open page and forgets the old one', async t => {
  const { first, run, channels } = await world(t, ['one'])
  await first.renewSubscription()
  await run('touch never')
  await first.deliver('permission')
  await first.until(one)
  t.equal(await channels(), 1)
})

t.test('a signed-out device is not notified again', async t => {
  const { first, phones, channels } = await world(t, ['one', 'other'])
  const other = phones[1] ?? first
  t.equal(await channels(), 2)
  for (const { device } of phones) await device.visit('/settings')
  await first.device.press('Sign out')
  await first.device.page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await first.device.see('Create an account')
  t.equal(await channels(), 1)

  const { devices } = (await other.ask('GET', '/v1/devices')) as { devices: { id: string; current: boolean }[] }
  await other.ask('DELETE', `/v1/devices/${devices.find(({ current }) => current)?.id}`)
  await other.device.see(/This device was unlinked on/)
  t.equal(await channels(), 0)
  for (const phone of phones)
    await phone.device.page.waitForFunction(() =>
      navigator.serviceWorker.ready.then(({ pushManager }) => pushManager.getSubscription()).then(now => now === null)
    )
  t.same(
    phones.map(phone => phone.ended()),
    [1, 1]
  )
})

t.test('with the app lock on, nothing is opened or answered outside the app [P8]', async t => {
  const { session, first, run } = await world(t, ['one'])
  await first.device.visit('/')
  await first.device.page.evaluate(() => localStorage.setItem('afield-lock', JSON.stringify({ choice: 'risky', id: 'AAAA' })))
  await first.device.visit('/')
  await first.device.see('Live')
  await first.leave()
  await run('touch secret')
  await first.deliver('permission')
  t.same(await first.until(one), [{ title: 'Your agent needs a decision', body: 'Open the app to decide.', actions: ['open', 'snooze'] }])
  await first.tap('deny')
  t.same(await first.until(([only]) => only?.body !== 'Open the app to decide.'), [], 'it closes, and the app is opened')
  t.same(completed(session), [])
})

t.test('offline it is shown, says that no answer came, and reports its arrival later [P9]', async t => {
  const { first, run, restart, session } = await world(t, ['one'])
  await run('touch never')
  await session.until(({ state }) => one(Object.keys(state.requests ?? {})))
  const push = await first.next('permission')
  const start = await restart()
  await first.push(push)
  await first.until(one)
  await first.tap('deny')
  await first.until(([only]) => only?.body.startsWith('No answer from the server') === true)

  await start()
  await first.device.visit('/')
  const told = await first.device.page.waitForResponse(response => response.url().endsWith('/v1/push-receipts'))
  t.equal(told.status(), 200)
  const { channels } = (await first.ask('GET', '/v1/notifications')) as NotificationsReply
  t.same(
    channels.map(({ health }) => health.arrived),
    [1]
  )
})

t.test('an unreadable notification shows fixed words, and a tap opens the running app [P9]', async t => {
  const { first, run, session } = await world(t, ['one'])
  await first.push('not of ours')
  const [strange] = await first.until(one)
  t.match(strange, { title: 'Afield', body: 'An agent needs you' })
  await first.tap()
  await first.until(all => all.length === 0)

  await run('touch never')
  await first.deliver('permission')
  await first.until(one)
  await first.device.visit('/')
  await first.device.see('Live')
  await first.tap()
  await first.device.see('Run this command?')
  t.equal(new URL(first.device.page.url()).pathname, `/s/${session.id}`)
  t.same(await first.notified(), [])
})

t.test('while the app is visible it is announced there, and no notification is shown [P9]', async t => {
  const { first, run } = await world(t, ['one'])
  await run('touch never')
  const push = await first.next('permission')
  await first.device.visit('/')
  await first.device.see('Live')
  await first.push(push)
  const alert = first.device.page.getByRole('alert').filter({ hasText: 'Run a command?' })
  await alert.waitFor()
  t.match(await alert.textContent(), /touch never/)
  t.same(await first.notified(), [])
  await alert.getByRole('button').first().click()
  await first.device.see('Run this command?')
})
