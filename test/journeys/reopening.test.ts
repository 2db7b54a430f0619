import t, { type Test } from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { type Device, openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import type { Phone, PhoneSession } from '../wrapper/kit/phone.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'

const devices = await openDevices(t)

/** A browser signed in to an account with a linked computer that can run agents; `witness` is another device of the account. */
async function world(t: Test): Promise<{ device: Device; witness: Phone; home: string }> {
  const server = await startServerProcess(t)
  const { phone: witness, home } = await linkedComputer(t, server)
  const device = await devices.open(t, server.url)
  await device.visit('/restore')
  await device.write('Account key', formatBackupKey(witness.secret))
  await device.press('Restore')
  await device.see('Live')
  return { device, witness, home }
}

/** A session in which the demo agent has said something. */
async function startTalk(t: Test, { witness, home }: { witness: Phone; home: string }, said: string): Promise<PhoneSession> {
  const before = await witness.sessions()
  runWrapper(t, { home, args: ['demo'] })
  const session = await witness.session(before.map(({ id }) => id))
  await session.say(`SCRIPT: text ${said}`)
  await session.until(({ events }) => events().some(event => event.t === 'text' && event.text.includes(said)))
  return session
}

/** Holds back the list of sessions, with their keys, from this device until the returned function is called. */
async function holdList({ context }: Device): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await context.route(/\/v1\/sessions(\?|$)/, async route => {
    await promise
    await route.continue()
  })
  return resolve
}

/** Opens a listed session and waits until the browser has stored its entry. */
async function visitAndKeep(device: Device, session: PhoneSession, said: string): Promise<void> {
  const before = await kept(device, 'home')
  await device.visit(`/s/${session.id}`)
  await conversation(device, said).waitFor()
  while ((await kept(device, 'home')) === before);
}

/** The sealed entry stored under a name, which changes with each write. Resolves after a frame. */
function kept({ page }: Device, name: string): Promise<string> {
  return page.evaluate(async name => {
    await new Promise(requestAnimationFrame)
    const asking = indexedDB.open('afield')
    const db = await new Promise<IDBDatabase>(resolve => {
      asking.onsuccess = () => resolve(asking.result)
    })
    const reading = db.transaction('sealed').objectStore('sealed').get(name)
    await new Promise(resolve => {
      reading.onsuccess = resolve
    })
    db.close()
    return String(reading.result?.iv)
  }, name)
}

function conversation({ page }: Device, text: string) {
  return page.getByRole('log').getByText(text, { exact: true })
}

t.test('a session opens by its address alone, whichever arrives first: its messages or its key', async t => {
  const { device, witness, home } = await world(t)
  const session = await startTalk(t, { witness, home }, 'Apples are in.')
  await device.see('Apples are in.')
  await visitAndKeep(device, session, 'Apples are in.')

  const letList = await holdList(device)
  await device.visit(`/s/${session.id}`)
  await conversation(device, 'Apples are in.').waitFor()
  t.pass('a session this device knew opens before the server has told of it again')

  // Closed while the session starts, so that this device hears of it only through its messages.
  await device.visit('about:blank')
  const next = await startTalk(t, { witness, home }, 'Pears are in.')
  await device.visit(`/s/${next.id}`)
  while ((await kept(device, `history.${next.id}`)) === 'undefined');
  letList()
  await conversation(device, 'Pears are in.').waitFor()
  t.equal(await device.page.getByText(/cannot be opened/).count(), 0)
})

t.test('an offline reload shows past and waiting messages, and claims no connection', async t => {
  const { device, witness, home } = await world(t)
  const session = await startTalk(t, { witness, home }, 'Plums are in.')
  await device.see('Plums are in.')
  await visitAndKeep(device, session, 'Plums are in.')
  const connected = device.page.getByText(/ is connected$/)
  await connected.waitFor({ state: 'attached' })
  await device.page.evaluate(() => navigator.serviceWorker.ready)
  await device.visit(`/s/${session.id}`)
  await conversation(device, 'Plums are in.').waitFor()

  while ((await kept(device, `history.${session.id}`)) === 'undefined');

  await device.context.setOffline(true)
  await device.page.getByRole('textbox', { name: /message/i }).fill('SCRIPT: text Cherries are in.')
  await device.press('Send')
  await conversation(device, 'SCRIPT: text Cherries are in.').waitFor()
  await device.page.reload()
  await conversation(device, 'Plums are in.').waitFor()
  await conversation(device, 'SCRIPT: text Cherries are in.').waitFor()
  t.equal(await connected.count(), 0)

  await device.context.setOffline(false)
  await conversation(device, 'Cherries are in.').waitFor()
  await connected.waitFor({ state: 'attached' })
})

t.test('an address without a session says so, and not that something was deleted', async t => {
  const { device } = await world(t)
  await device.visit('/s/never-was')
  await device.see('Session not found')
  t.equal(await device.page.getByText(/deleted/).count(), 0)
})
