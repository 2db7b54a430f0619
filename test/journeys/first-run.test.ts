import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Device, openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'
import { readCode } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { bringLink } from './kit/linking.ts'
import { withScreenLock } from './kit/screen-lock.ts'

const devices = await openDevices(t)

t.test('a pairing link opened on a device without an account waits until there is one: created, restored or linked', async t => {
  const { url, askToPair } = await serverAndComputer(t)
  const first = await askToPair()
  const phone = await devices.open(t, url)
  await phone.page.goto(first.link)
  await phone.see('Your account first, then the computer')
  t.notMatch(phone.page.url(), /#/)
  await phone.press('Create an account')
  await phone.press('Create my account')
  const groups = phone.page.locator('.key-groups code')
  await groups.nth(10).waitFor()
  const key = (await groups.allTextContents()).join('-')
  await phone.press('Later, remind me tomorrow')
  await phone.write('Check code', first.checkCode)
  await phone.hold('Hold to link', 'Linked')
  t.equal(await first.login.ended, 0, first.login.output)

  const second = await askToPair()
  const desk = await devices.open(t, url)
  await desk.page.goto(second.link)
  await desk.press('Restore with my account key')
  await desk.write('Account key', key)
  await desk.press('Restore')
  await desk.see('This gives full control of your agents.')

  const tablet = await devices.open(t, url)
  await tablet.page.goto(second.link)
  await tablet.press('Link with an existing device')
  const checkCode = await bringLink(tablet, phone)
  await phone.write('Check code', checkCode)
  await phone.hold('Hold to link', 'The other device has your account now.')
  await tablet.see('This gives full control of your agents.')
})

t.test('the first screen says how to restore a backup of the server, until the server has an account', async t => {
  const data = mkdtempSync(join(tmpdir(), 'afield-first-'))
  t.teardown(() => rmSync(data, { recursive: true, force: true }))
  const { url } = await startServerProcess(t, { data, signup: 'owner' })
  const phone = await devices.open(t, url)
  await phone.page.goto(url)
  await phone.page.getByText('I have a backup of my server').click()
  await phone.see(/^(afield|node build\.mjs start) restore my\.backup$/)
  await phone.page.goto(`${url}/#setup=${readFileSync(join(data, 'setup-code'), 'utf8').trim()}`)
  await phone.see('I have a backup of my server')
  await phone.see('It came with the link.')
  t.equal(await phone.page.getByText('prints the name of the file').count(), 0, 'nobody looks for a code that is already there')
  await phone.press('Create my account')
  await phone.see('Write down your account key')

  const stranger = await devices.open(t, url)
  await stranger.page.goto(url)
  await stranger.see(/^This server accepts no new accounts/)
  await stranger.page.waitForLoadState('networkidle')
  for (const text of ['I have a backup of my server', 'Create an account']) t.equal(await stranger.page.getByText(text).count(), 0, text)
  await stranger.press('Link with an existing device')
})

t.test('after creating an account and checking the key, the screen lock is offered, and then scanning a code', async t => {
  const { url } = await serverAndComputer(t)
  const phone = await devices.open(t, url)
  const lock = await withScreenLock(phone)
  await makeAndCheck(phone)
  await phone.see('Lock Afield on this device?')
  await lock.ownerIs(false)
  await phone.press('Turn on')
  await phone.see('The screen lock was not confirmed.')
  await lock.ownerIs(true)
  await phone.page.getByLabel('After 5 minutes away').click()
  await phone.press('Turn on')
  await phone.see('Point the camera at the code')
  t.match(await phone.page.evaluate(() => localStorage.getItem('afield-lock')), /"after5"/)

  const desk = await devices.open(t, url)
  await makeAndCheck(desk)
  await desk.see('Point the camera at the code')
  t.equal(await desk.page.evaluate(() => localStorage.getItem('afield-lock')), null, 'nothing is offered that is not there')
})

t.test('three actions lead from nothing to the first message: run the server, create the account, run one command', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'afield-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const computer = { home: join(folder, 'home'), directory: folder, env: { AFIELD_DATA: join(folder, 'data') } }

  const server = runOnTerminal(t, { ...computer, args: ['serve', '--port', '0'] })
  await server.sees(/links that\s+computer first/)
  const [link = '', url = ''] = /(http\S+)\/#setup=\S+/.exec(server.screen) ?? []

  const phone = await devices.open(t, url)
  await phone.page.goto(link)
  await phone.press('Create my account')
  await phone.see('Write down your account key')
  await phone.press('Later, remind me tomorrow')
  await phone.see(`claude --server ${url}`)

  const agent = runOnTerminal(t, { ...computer, args: ['demo'] })
  await agent.sees(/Check code \d{4}/)
  const [request, checkCode] = linkOn(agent.screen)
  await phone.page.goto(request)
  await phone.write('Check code', checkCode)
  await phone.hold('Hold to link', / is linked$/)
  await phone.page.waitForURL(/\/s\//)
  await phone.page.getByRole('textbox', { name: /message/i }).fill('Bring apples')
  await phone.press(/^(Send|Queue)/)
  await phone.see('Edit notes.md?')
  await agent.sees(/This computer is linked/)
})

t.test('a private window first warns that it forgets everything', async t => {
  const { url } = await serverAndComputer(t)
  const phone = await devices.open(t, url)
  // As in private windows of Firefox and Safari.
  await phone.context.addInitScript("navigator.storage.getDirectory = () => Promise.reject(new DOMException('', 'SecurityError'))")
  await phone.visit('/')
  await phone.see('This window forgets everything when it closes')
  const other = await devices.open(t, url)
  await other.visit('/')
  await other.see('Create an account')
  await other.see(/ \d+\.\d+\.\d+/)
  t.equal(await other.page.getByText('This window forgets').count(), 0, 'and nothing is claimed where nothing is known')
})

/** The address and the check code that a computer shows; a long address is broken at the edge of the terminal. */
function linkOn(screen: string): [link: string, checkCode: string] {
  const link = /http\S+\/terminal\/connect#v2=\S+/.exec(screen.replaceAll(/\n(?=\S)/g, ''))?.[0] ?? ''
  return [link, /Check code (\d{4})/.exec(screen)?.[1] ?? '']
}

async function makeAndCheck(device: Device): Promise<void> {
  await device.visit('/')
  await device.press('Create an account')
  await device.press('Create my account')
  const groups = device.page.locator('.key-groups code')
  await groups.nth(10).waitFor()
  const key = await groups.allTextContents()
  await device.press('I have it, check it')
  await device.see('Type these three groups')
  for (const label of await device.page.locator('.fld label').allTextContents()) {
    await device.write(label, key[Number(label.replace(/\D/g, '')) - 1] ?? '')
  }
  await device.press('Check')
  await device.see('Correct')
  await device.press('Continue')
}

async function serverAndComputer(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'afield-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const server = await startServerProcess(t, { data: join(folder, 'data') })
  // A screen lock requires a host name, not an IP address.
  const url = server.url.replace('127.0.0.1', 'localhost')
  const askToPair = async () => {
    const login = runWrapper(t, { home: mkdtempSync(join(folder, 'home-')), args: ['login', '--server', url] })
    return { login, ...(await readCode(login)) }
  }
  return { url, askToPair }
}
