import t from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

t.test('in a real browser', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  const menuOf = async (title: string) => {
    await page.locator('.row-w', { hasText: title }).locator('.row-menu').getByRole('button').click()
    const items = page.getByRole('menuitem')
    await items.first().waitFor()
    return items
  }

  t.test('the row of a silent agent has buttons to view and stop it', async t => {
    await openStory(page, origin, '/?app=home-plain', 'light')
    const items = await menuOf('Bump esbuild')
    t.same((await items.allInnerTexts()).slice(0, 2), ['View', 'Stop'])
    await items.filter({ hasText: 'View' }).click()
    await page.waitForURL(/\/s\/[^/]+\/info$/)
  })

  t.test('the row of an active one has neither', async t => {
    await openStory(page, origin, '/?app=home-plain', 'light')
    const items = await menuOf('SSO loses return path')
    const names = await items.allInnerTexts()
    t.ok(names.length > 0)
    t.same(
      names.filter(name => ['View', 'Stop'].includes(name)),
      []
    )
  })

  t.test('how long a command runs is counted from when it was allowed, not from when it was requested', async t => {
    await openStory(page, origin, '/?app=home-plain', 'light')
    const row = page.locator('.row', { hasText: 'SSO loses return path' })
    await row.getByText('Running npm test, ').waitFor()
    t.match(await row.locator('.row-a').innerText(), /, \d+ s$/)
  })

  t.test('the session info ends with the last output of its agent', async t => {
    await openStory(page, origin, '/?story=info&framed', 'light')
    const sheet = page.getByRole('dialog')
    await sheet.getByRole('heading', { name: /^Last output, / }).waitFor()
    t.match(await sheet.locator('.facts').innerText(), /Encrypted with\s+Its own key, (59 min|1 h) old/)
    t.match(await sheet.locator('pre').innerText(), /40 of 212 tests\n41 of 212 tests/)
  })
})
