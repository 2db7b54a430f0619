import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Device, openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { goTo, letAwake, press, pressAwake, seeFocusOn } from './kit/by-keyboard.ts'
import { worldWithDaemon } from './kit/daemon-world.ts'

const devices = await openDevices(t)
const desk = { width: 1280, height: 800 }

t.test('with only a keyboard, an account is created, and each stop shows the focus', async t => {
  const server = await startServerProcess(t)
  const fresh = await devices.open(t, server.url, desk)
  await fresh.visit('/')
  await press(fresh, 'Create an account')
  await press(fresh, 'Create my account')
  await fresh.see('Write down your account key')
  await press(fresh, /^Later/)
  await fresh.see('No sessions here yet')
  t.equal(await fresh.page.locator('[tabindex]:not([tabindex="0"], [tabindex="-1"])').count(), 0, 'the order is that of reading')
})

t.test('with only a keyboard, decisions are made, and Escape makes none [app-design §10]', async t => {
  const { device, code, session } = await openTalk(t)
  const { keyboard } = device.page
  const heading = device.page.getByRole('heading', { name: 'Run this command?' })
  const answered = () => Object.values(session.state.completedRequests ?? {})

  await write(device, 'SCRIPT: tool exec {"command":"echo one"}')
  await heading.waitFor()
  await letAwake(device)
  await keyboard.press('Escape')
  await keyboard.press('Enter')
  await keyboard.press('a')
  await seeFocusOn(device, 'Allow once')
  t.same(answered(), [], 'neither Escape nor Enter elsewhere decides')
  await keyboard.press('Alt+s')
  await seeFocusOn(device, 'Once')
  await keyboard.press('a')
  await keyboard.press('Enter')
  await session.until(() => answered().length === 1)

  await write(device, 'SCRIPT: tool exec {"command":"touch tricked"}')
  await heading.waitFor()
  await letAwake(device)
  await keyboard.press('r')
  await seeFocusOn(device, 'Why, or what to do instead')
  await keyboard.press('Escape')
  await seeFocusOn(device, /^Deny/)
  t.equal(answered().length, 1, 'the no was taken back')
  await keyboard.press('r')
  await seeFocusOn(device, 'Why, or what to do instead')
  await keyboard.type('Use the other one, not a or r')
  await goTo(device, 'Deny, continue')
  await pressAwake(device)
  await session.until(() => answered().length === 2)
  t.match(answered()[1], { status: 'denied', reason: 'Use the other one, not a or r' })
  t.notOk(existsSync(join(code, 'tricked')))

  mkdirSync(join(code, 'leaves'), { recursive: true })
  writeFileSync(join(code, 'leaves/one'), '')
  await write(device, 'SCRIPT: tool exec {"command":"rm -rf leaves"}')
  await heading.waitFor()
  await letAwake(device)
  await keyboard.press('a')
  await seeFocusOn(device, /^Hold to run once/)
  await keyboard.press('Enter', { delay: 300 })
  t.ok(existsSync(join(code, 'leaves')), 'a press of Enter is too short')
  t.equal(answered().length, 2)
  await keyboard.down('Enter')
  await session.until(() => answered().length === 3)
  await keyboard.up('Enter')
  await session.until(({ events }) => events().filter(({ t }) => t === 'tool-call-end').length === 3)
  await device.see('Ran rm -rf leaves')
  t.notOk(existsSync(join(code, 'leaves')))

  await write(device, 'SCRIPT: ask')
  await device.see('1 of 4')
  await keyboard.press('1')
  await device.page.getByRole('radio', { name: /Green/, checked: true }).waitFor()
  await keyboard.press('a')
  await pressAwake(device)
  await device.see('2 of 4')
})

t.test('with only a keyboard, every place is reachable, and focus returns to where it was [app-design §10]', async t => {
  const { device } = await openTalk(t)
  const { page } = device
  const { keyboard } = page
  const jump = async (keys: string, heading: string) => {
    for (const key of keys) await keyboard.press(key)
    await page.waitForFunction(
      sought => document.activeElement?.matches('main h1') && document.activeElement.textContent === sought,
      heading
    )
  }
  await jump('gm', 'Computers')
  await jump('gs', 'Settings')
  await keyboard.press('g')
  await keyboard.press('h')
  await page.waitForURL(/\/$/)
  await page.waitForFunction(() => document.activeElement?.matches('main h1'))
  await device.visit('/')
  await page.locator('a.row').first().waitFor()
  await keyboard.press('Tab')
  await seeFocusOn(device, 'Skip to content')
  await keyboard.press('Enter')
  t.equal(await page.evaluate(() => document.activeElement?.id), 'main')

  await keyboard.press('j')
  await seeFocusOn(device, /watered/)
  await keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  for (let stops = 0; stops < 6; stops++) {
    await keyboard.press('Tab')
    t.ok(await page.evaluate(() => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null))
  }
  await keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await seeFocusOn(device, /watered/)
  await keyboard.press('Control+k')
  await page.getByRole('dialog').waitFor()
  await keyboard.type('archive')
  await keyboard.press('Enter')
  await page.waitForURL('**/archive')
  await keyboard.press('Escape')
  await page.waitForURL(/\/$/)

  // The heading of a screen receives focus when it opens.
  await page.waitForFunction(() => document.activeElement?.matches('main h1'))
  await keyboard.press('j')
  await seeFocusOn(device, /watered/)
  await keyboard.press('Enter')
  await page.waitForURL('**/s/**')
})

t.test('with only a keyboard, a session is started [app-design §10]', async t => {
  const { device, code } = await openTalk(t)
  const { page } = device
  await page.keyboard.press('n')
  await page.waitForURL('**/new')
  await seeFocusOn(device, 'New session')
  await goTo(device, 'What should it do?')
  await page.keyboard.type('SCRIPT: text Planted.')
  await press(device, /^Choose a folder|^code/)
  await page.getByRole('dialog').waitFor()
  await goTo(device, 'Or type a path')
  await page.keyboard.type(code)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await goTo(device, /^Demo agent|^Claude|^Codex/)
  await page.getByRole('radio', { name: 'Demo agent' }).waitFor()
  for (let moves = 0; moves < 8 && !(await page.getByRole('radio', { name: 'Demo agent' }).isChecked()); moves++)
    await page.keyboard.press('ArrowRight')
  await press(device, /^Start on /)
  await page.getByRole('log').getByText('Planted.', { exact: true }).waitFor()
})

/** A session of the demo agent, open on a desktop. */
async function openTalk(t: Test) {
  const world = await worldWithDaemon(t, devices, 'The garden is watered.', desk)
  await world.device.visit(`/s/${world.session.id}`)
  await world.device.page.getByPlaceholder(/^Message /).waitFor()
  return world
}

/** Works wherever the focus is. */
async function write({ page }: Device, text: string): Promise<void> {
  await page.getByPlaceholder(/^(Message|Add a message)/).waitFor()
  await page.keyboard.press('c')
  await page.keyboard.type(text)
  await page.keyboard.press('Enter')
}
