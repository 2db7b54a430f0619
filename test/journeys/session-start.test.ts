import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { type Device, openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { runWrapper, type WrapperProcess } from '../wrapper/kit/wrapper.ts'

const devices = await openDevices(t)

/** A phone with an account, and a computer linked to it whose policy lets sessions begin in one folder. */
async function phoneAndComputer(t: Test): Promise<{ phone: Device; home: string; code: string }> {
  const server = await startServerProcess(t)
  const { phone: account, home } = await linkedComputer(t, server)
  const code = join(home, '..', 'code')
  mkdirSync(join(code, 'orchard'), { recursive: true })
  const phone = await devices.open(t, server.url)
  await phone.visit('/restore')
  await phone.write('Account key', formatBackupKey(account.secret))
  await phone.press('Restore')
  await phone.see('Live')
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [code] }))
  return { phone, home, code }
}

async function startDaemon(t: Test, home: string): Promise<WrapperProcess> {
  const daemon = runWrapper(t, { home, args: ['daemon', 'run'] })
  await daemon.says(/ live\n/)
  return daemon
}

async function begin(phone: Device, agent: string): Promise<void> {
  await phone.page.getByText(agent, { exact: true }).click()
  await phone.press(/^Start on /)
}

async function seeSession(phone: Device, folder: string): Promise<void> {
  await phone.page.getByPlaceholder('Message Demo agent').waitFor()
  await phone.page.getByRole('heading', { level: 1, name: folder }).waitFor()
}

t.test('a session is started, ended and resumed from the phone, and begins with the first message', async t => {
  const { phone, home, code } = await phoneAndComputer(t)
  await startDaemon(t, home)

  await phone.visit('/new')
  const text = phone.page.getByLabel('What should it do?')
  // The draft is stored a moment after typing; a visit before that types it again.
  while ((await text.inputValue()) === '') {
    await phone.write('What should it do?', 'SCRIPT: text Off to the orchard.')
    await phone.visit('/new')
  }

  await phone.press('Choose a folder')
  await phone.write('Or type a path', code)
  await phone.press('Use this path')
  await begin(phone, 'Demo agent')
  await phone.see('SCRIPT: text Off to the orchard.')
  await phone.page.getByText('Off to the orchard.', { exact: true }).waitFor()

  await phone.press('Session menu')
  await phone.page.getByRole('menuitem', { name: 'End agent' }).click()
  await phone.page.getByRole('dialog').getByRole('button', { name: 'End agent' }).click()
  await phone.see('Demo agent ended')
  await phone.press('Resume')
  await phone.page.getByPlaceholder('Message Demo agent').waitFor()

  await phone.press('Session menu')
  await phone.page.getByRole('menuitem', { name: 'End agent' }).click()
  await phone.page.getByRole('dialog').getByRole('button', { name: 'End agent' }).click()
  await phone.see('Demo agent ended')
  await phone.page.getByPlaceholder('Send a message to resume').fill('SCRIPT: text Back among the trees.')
  await phone.press('Send')
  await phone.page.getByText('Back among the trees.', { exact: true }).waitFor()
})

t.test('files attached before a session starts go with its first message', async t => {
  const { phone, home, code } = await phoneAndComputer(t)
  await startDaemon(t, home)
  await phone.visit('/new')
  await phone.press('Choose a folder')
  await phone.write('Or type a path', code)
  await phone.press('Use this path')
  await phone.write('What should it do?', 'SCRIPT: text Seen both.')
  await phone.page.getByText('More', { exact: true }).click()
  const many = ['gate.txt', 'trace.json', 'left-out.txt'].map(name => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) }))
  await phone.page.locator('.more input[type=file]').setInputFiles(many)
  await phone.press('Remove left-out.txt')
  await begin(phone, 'Demo agent')
  await phone.page.getByText('Seen both.', { exact: true }).waitFor()
  t.same(await phone.page.locator('.att-list li bdi').allInnerTexts(), ['gate.txt, 8 byte', 'trace.json, 10 byte'])
  t.equal(await phone.page.getByPlaceholder('Message Demo agent').inputValue(), '', 'nothing is left where it was written')
})

t.test("a folder is found on the computer, or created after confirmation; the computer's error is shown as is", async t => {
  const { phone, home, code } = await phoneAndComputer(t)
  await startDaemon(t, home)

  await phone.visit('/new')
  await phone.press('Choose a folder')
  await phone.write('Or type a path', '/etc')
  await phone.press('Use this path')
  await begin(phone, 'Demo agent')
  await phone.see('Demo agent did not start')
  await phone.see('is not allowed on this computer.')

  await phone.press(/^etc/)
  await phone.write('Or type a path', join(code, 'meadow'))
  await phone.press('Use this path')
  await begin(phone, 'Demo agent')
  await phone.see('Create this folder?')
  await phone.see(join(code, 'meadow'))
  await phone.press('Create and start')
  await seeSession(phone, 'meadow')

  const orchard = join(code, 'orchard')
  execFileSync('git', ['init', '-q', '-b', 'main', orchard])
  writeFileSync(join(orchard, 'apples.txt'), 'red\n')
  await phone.visit('/new')
  await phone.press(/^meadow/)
  await phone.press('Browse')
  await phone.see('No folders in here.')
  await phone.press('One folder up')
  await phone.press('orchard')
  await phone.press('Use this folder')
  await phone.see(orchard)
  await phone.see(/on main · 1 change/)
  t.ok(await phone.page.getByRole('switch', { name: /Own worktree/ }).isChecked(), 'also where no session was yet')
  await phone.press(/^orchard/)
  await phone.press('Browse')
  await phone.press('One folder up')
  await phone.press('One folder up')
  await phone.see('This folder cannot be shown')

  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [orchard] }))
  await phone.visit('/new')
  await phone.page.getByText('Demo agent', { exact: true }).waitFor()
  await phone.see('Choose a folder')
  t.equal(await phone.page.getByText('meadow').count(), 0, 'a folder that the computer would refuse is not proposed')
})

t.test('a machine shows what it has, and without a daemon it says how to start one', async t => {
  const { phone, home, code } = await phoneAndComputer(t)
  const daemon = await startDaemon(t, home)

  await phone.visit('/new')
  await phone.press('Choose a folder')
  await phone.write('Or type a path', join(code, 'orchard'))
  await phone.press('Use this path')
  await begin(phone, 'Demo agent')
  await seeSession(phone, 'orchard')

  await phone.visit('/machines')
  await phone.page.getByRole('link', { name: /running/ }).click()
  await phone.see('Running since')
  await phone.see('Not installed')
  await phone.page.getByRole('link', { name: /^orchard .*code/ }).click()
  t.match(phone.page.url(), /\/new\?machine=.+&folder=.+orchard/)
  await phone.see('Start on')

  await phone.page.goBack()
  await phone.press('Stop daemon')
  await phone.page.getByRole('dialog').getByRole('button', { name: 'Stop daemon' }).click()
  t.equal(await daemon.ended, 0)
  await phone.see('Not running')
  await phone.see(/daemon start/)
  await phone.visit('/new')
  await phone.see(/^The daemon on .* is not running/)
  await phone.see(/start claude$/)
})
