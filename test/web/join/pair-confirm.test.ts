import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

const sizes = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } }

t.test('the rights of a linked computer are not covered by the button that links it', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  for (const [where, viewport] of Object.entries(sizes)) {
    const page = await browser.newPage({ viewport })
    await openStory(page, origin, '/?app=pair-machine', 'light')
    const [can, decide] = [await page.locator('.can').boundingBox(), await page.locator('.decide').boundingBox()]
    if (can === null || decide === null) throw new Error('Both are shown.')
    t.ok(can.y + can.height <= decide.y, `on a ${where}`)
    await page.getByRole('button', { name: 'Hold to link' }).scrollIntoViewIfNeeded()
    t.ok(await page.getByRole('button', { name: 'Reject' }).isVisible())
    await page.close()
  }
})

t.test('on a phone, the code field and the button to link are on the screen with everything they decide on', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: sizes.phone })
  for (const story of ['pair-machine', 'pair-root', 'pair-loopback', 'pair-device', 'pair-no-code']) {
    await openStory(page, origin, `/?app=${story}`, 'light')
    const refuse = await page.getByRole('button', { name: 'Reject' }).boundingBox()
    if (refuse === null) throw new Error('It is shown.')
    t.ok(refuse.y + refuse.height <= sizes.phone.height, `${story}: the last button ends at ${refuse.y + refuse.height}`)
  }
})

t.test('the screen of a linked computer says what runs there already, and offers what there is', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: sizes.phone })
  const shown = async (story: string) => {
    await openStory(page, origin, `/?app=${story}`, 'light')
    // Its text comes a moment after it, so that it is read out.
    const says = await page.getByRole('status').filter({ hasText: /./ }).first().textContent()
    return { says, offers: await page.locator('.foot a').allTextContents() }
  }
  t.same(await shown('pair-linked-new'), {
    says: 'If an agent starts there now, its session opens here. Later ones appear on Home.',
    offers: ['Go to your sessions']
  })
  t.same(await shown('pair-linked'), {
    says: '3 sessions are already running there. They are on Home.',
    offers: ['Go to your sessions']
  })
})

t.test('the request of an earlier link cannot be answered while a later link is looked at', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: sizes.phone })
  await openStory(page, origin, '/?app=pair-machine', 'light')
  const link = page.getByRole('button', { name: 'Hold to link' })
  await link.waitFor()
  await page.evaluate(() => location.assign('#key=waiting'))
  await page.locator('[aria-busy=true]').waitFor()
  t.notOk(await link.isVisible())
})
