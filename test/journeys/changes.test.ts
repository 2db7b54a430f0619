import t from 'tap'
import { openDevices } from '../kit/browser.ts'
import { callback, openRepository } from './repository-session.ts'

const devices = await openDevices(t)

t.test('changes are reviewed, commented on and committed from a phone, and appear in the log', async t => {
  const { device, session, git, write } = await openRepository(t, devices)
  const { page } = device
  write('src/callback.js', callback.replace("'/home'", "state.returnTo ?? '/home'"))
  write('src/return-path.js', 'export const safe = true\n')
  await page.getByRole('button', { name: 'Session menu' }).waitFor()
  await page.keyboard.press('d')
  await page.getByRole('heading', { level: 1, name: 'Changes' }).waitFor()
  await page.getByRole('button', { name: 'Refresh' }).click()
  const file = page.getByRole('article', { name: 'src/callback.js' })
  await file.getByText("return redirect('/home')").waitFor()
  await file.getByText('state.returnTo ??').waitFor()
  await page.getByRole('article', { name: 'src/return-path.js' }).getByText('export const safe').waitFor()

  await file.getByText('state.returnTo ??').click()
  await page.getByLabel('Comment on line 5', { exact: true }).last().fill('What if it is on another origin?')
  await device.press('Add comment')
  await page
    .getByRole('article', { name: 'src/return-path.js' })
    .getByRole('button', { name: /^Comment on return-path/ })
    .click()
  await page.getByLabel('Comment on return-path.js', { exact: true }).last().fill('Say what safe means.')
  await device.press('Add comment')
  await device.press('Send 2 comments')
  await session.until(({ messages }) =>
    messages.some(({ role, content }) => role === 'user' && /2 comments on the changes/.test(String(content.text)))
  )
  const told = session.messages
    .flatMap(({ role, content }) => (role === 'user' ? [String(content.text)] : []))
    .find(text => text.startsWith('2 comments'))
  t.equal(
    told,
    "2 comments on the changes:\n\nsrc/callback.js, line 5\n> return redirect(state.returnTo ?? '/home')\nWhat if it is on another origin?\n\nsrc/return-path.js\nSay what safe means."
  )
  t.equal(await page.locator('.wcomment').count(), 0, 'sent comments are not kept')

  await device.press('Commit…')
  const message = page.getByLabel('Message', { exact: true })
  await message.fill('')
  t.ok(await page.getByRole('button', { name: 'Commit 2 files' }).isDisabled(), 'both files are selected, but there is no message')
  await device.see('Write a commit message first.')
  await message.fill('Lead people back')
  await page.getByRole('dialog').getByRole('button', { name: 'None' }).click()
  t.ok(await page.getByRole('button', { name: 'Commit 0 files' }).isDisabled())
  await device.see('Select at least one file.')
  await page
    .getByRole('dialog')
    .getByRole('checkbox', { name: /callback\.js/ })
    .check()
  await device.see('The hooks of this repository run on')
  t.equal(git('diff', '--cached', '--name-only').trim(), '', 'a choice alone changes nothing on the computer')
  await device.press('Commit 1 file')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  t.equal(git('log', '-1', '--format=%s').trim(), 'Lead people back')
  t.equal(git('show', '--format=', '--name-only', 'HEAD').trim(), 'src/callback.js', 'and nothing else')
  await page.getByRole('article', { name: 'src/callback.js' }).waitFor({ state: 'detached' })
  await page.getByRole('article', { name: 'src/return-path.js' }).waitFor()

  write('README.md', '# Orchard\n\nApples.\n')
  git('add', 'README.md')
  await device.press('Refresh')
  await page.getByRole('article', { name: 'README.md' }).waitFor()
  await device.press('Commit…')
  await message.fill('Name the apples')
  await device.press('Commit 1 file')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  t.equal(git('show', '--format=', '--name-only', 'HEAD').trim(), 'README.md', 'files staged on the machine come first')

  await device.press('Log')
  await device.see('Plant the first trees')
  const begun = page.locator('.crow', { hasText: 'Since this session started' })
  t.same(await begun.locator('b').first().allInnerTexts(), ['Name the apples'])
  await device.press(/^Lead people back/)
  await device.press(/callback\.js/)
  await page.getByRole('article').getByText('state.returnTo ??').waitFor()
})

t.test('a check mark disappears when the file changes again, and what was shown stays when the machine is unreachable', async t => {
  const { device, write, to, wrapper } = await openRepository(t, devices, { width: 1280, height: 800 })
  const { page } = device
  write('README.md', '# Orchard\n\nApples.\n')
  await to('changes')
  const file = page.getByRole('article', { name: 'README.md' })
  await file.getByText('Apples.').waitFor()
  await file.getByLabel('Viewed').check()
  await file.getByText('Apples.').waitFor({ state: 'hidden' })
  await device.press('Refresh')
  await page.waitForFunction(() => document.querySelector('.work .spin') === null)
  t.ok(await file.getByLabel('Viewed').isChecked())
  write('README.md', '# Orchard\n\nApples and pears.\n')
  await device.press('Refresh')
  await file.getByText('Apples and pears.').waitFor()
  t.notOk(await file.getByLabel('Viewed').isChecked(), 'it is another file by now')

  await wrapper.kill('SIGTERM')
  await device.see(/has ended\. Resume the session to see how it is now\./)
  await page.reload()
  await device.see(/has ended\. Resume the session to see how it is now\./)
  await file.getByText('Apples and pears.').waitFor()
  t.ok(await page.getByRole('button', { name: 'Commit…' }).isDisabled())
})
