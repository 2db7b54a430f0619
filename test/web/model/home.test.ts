import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('Home shows risky requests, open questions, progress and changes [app-design §7.1]', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  await openStory(page, origin, '/?app=home', 'light')
  const risky = page.locator('.ask', { hasText: 'Run a command' })
  await risky.getByText('Rewrites history, and 2 more risks').waitFor()
  t.ok((await risky.locator('mark.risk').allInnerTexts()).includes('--force-with-lease'))
  t.equal(await risky.getByRole('button').count(), 0, 'it is decided where it is shown in full')
  const question = page.locator('.ask', { hasText: 'Which store should hold refresh tokens?' })
  await question.getByRole('link', { name: /^Answer/ }).waitFor()
  const row = (title: string) => page.locator('.row', { hasText: title })
  t.match(await row('SSO loses return path').locator('.plan-marks').textContent(), 'Plan, 3 of 5')
  t.equal(await row('SSO loses return path').locator('.plan-marks .on').count(), 3)
  t.match(await row('Write the changelog').locator('.pm').textContent(), /48 lines added.*3 lines removed/)
  t.equal(await row('SSO loses return path').locator('.pm').count(), 0)
})

t.test('a session with a live agent looks different from one that ended, and says so', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  await openStory(page, origin, '/?app=home-quiet', 'light')
  const row = (title: string) => page.locator('.row', { hasText: title })
  const glyph = (title: string) => row(title).locator('.gl').getAttribute('class')
  t.not(await glyph('Explain the sign-in'), await glyph('Rename the tables'))
  t.match(await row('Explain the sign-in').locator('.row-m').innerText(), /^Idle · orchard-api/)
  t.match(await row('Rename the tables').textContent(), /^Ended\. /)
})
