import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { lookAtKeyFile, openKeyFile } from '../../../web/keys/file.ts'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('saving the key as a file', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)

  async function sheet(t: Test, story = 'key-file') {
    const page: Page = await browser.newPage({ viewport: { width: 390, height: 844 } })
    t.teardown(() => page.close())
    page.setDefaultTimeout(10_000)
    let saved = 0
    page.on('download', () => saved++)
    await openStory(page, origin, `/?app=${story}`, 'light')
    const dialog = page.getByRole('dialog')
    const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click()
    return {
      ...{ page, dialog, press, saved: () => saved },
      see: (text: string) => dialog.getByText(text).waitFor(),
      seesNo: (text: string) => dialog.getByText(text).waitFor({ state: 'detached' }),
      async write(passphrase: string, again: string) {
        await dialog.getByLabel('Passphrase', { exact: true }).fill(passphrase)
        await dialog.getByLabel('Repeat passphrase', { exact: true }).fill(again)
      },
      /** The name and the content of the file that pressing this saves, after which the sheet is gone. */
      async saves(name: string) {
        const saving = page.waitForEvent('download')
        await press(name)
        const file = await saving
        await dialog.waitFor({ state: 'detached' })
        // From now on the key is checked with the file, not by its letters.
        await page.getByRole('button', { name: 'I have it, check it' }).click()
        await page.getByText('Open the file that you saved').waitFor()
        return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) }
      }
    }
  }

  t.test('with a passphrase the file is encrypted', async t => {
    const { write, saves, page } = await sheet(t)
    await write('ten letter', 'ten letter')
    const { name, bytes } = await saves('Save file')
    t.equal(name, 'afield-account-key.age')
    const seen = await lookAtKeyFile(bytes)
    if (seen.type !== 'sealed') throw new Error(seen.type)
    t.match(await openKeyFile(seen.sealed, 'ten letter'), { key: /^[A-Z2-7]{5}-/ })
    t.equal(await page.locator('a[download]').count(), 0)
  })

  t.test('without one it is saved only after another press, with the address of the server', async t => {
    const { press, see, saves, saved } = await sheet(t)
    await press('Save file')
    await see('Anyone who gets the file has your whole account.')
    t.equal(saved(), 0)
    const { name, bytes } = await saves('Save unencrypted')
    t.equal(name, 'afield-account-key.txt')
    t.match(await lookAtKeyFile(bytes), { type: 'key', key: /^[A-Z2-7]{5}-/ })
    t.ok(bytes.toString().includes(`Server: ${origin}`))
  })

  t.test('a passphrase that is too short, or differs when repeated, saves nothing', async t => {
    const { write, press, see, seesNo, saved } = await sheet(t)
    const [short, differs] = ['Use at least ten characters.', 'The passphrases do not match.'] as const
    for (const [passphrase, again, problem] of [
      ['nine char', 'nine char', short],
      ['', 'ten letter', short],
      ['ten letter', '', differs],
      ['ten letter', 'ten lettes', differs]
    ] as const) {
      await write(passphrase, again)
      await seesNo(problem)
      await press('Save file')
      await see(problem)
    }
    t.equal(saved(), 0)
  })

  t.test('a passphrase typed after all is used', async t => {
    const { press, write, see, seesNo, saves } = await sheet(t, 'key-file-plain')
    await see('Anyone who gets the file has your whole account.')
    await write('ten letter', '')
    await seesNo('Anyone who gets the file has your whole account.')
    await press('Save file')
    await see('The passphrases do not match.')
    await write('ten letter', 'ten letter')
    t.match(await saves('Save file'), { name: /\.age$/ })
  })

  t.test('nothing is saved if it cannot be encrypted, and that can be tried again', async t => {
    const { page, write, press, see, saves, saved } = await sheet(t)
    await write('ten letter', 'ten letter')
    await page.evaluate(() => {
      const { getRandomValues } = crypto
      crypto.getRandomValues = () => {
        crypto.getRandomValues = getRandomValues
        throw new Error('not now')
      }
    })
    await press('Save file')
    await see('Nothing was saved')
    t.equal(saved(), 0)
    t.match(await saves('Save file'), { name: /\.age$/ })
  })
})
