import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('New says what a machine lacks to start a session, and how to get it', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  const open = (story: string) => openStory(page, origin, `/?app=${story}`, 'light')
  const starts = page.getByRole('button', { name: /^Start/ })

  await open('new-daemon-gone')
  await page.getByRole('heading', { name: 'The daemon on studio-mini is not running' }).waitFor()
  await page.getByText('Run afield daemon start there once').waitFor()
  t.equal(await starts.innerText(), 'Start when its daemon runs', 'agents that run there say that it is not away')
  t.ok(await starts.isDisabled(), 'nothing is known to start')
  await page.getByText('does not know yet which agents studio-mini has').waitFor()

  await open('new-daemon-dead')
  await page.getByText('Could not check agents on build-box').waitFor()
  t.match(await page.getByRole('alert').innerText(), 'Run afield daemon start there once')
  t.ok(await starts.isDisabled(), 'and no agent is made up')
  t.equal(await page.getByText('Gemini').count(), 0)

  await open('new-away')
  await page.getByRole('heading', { name: 'thinkpad is offline' }).waitFor()
  await page.getByText('Wake the computer. If it is awake, run afield daemon start there.').waitFor()
  t.equal(await starts.innerText(), 'Start when thinkpad is back')

  await open('new-asleep')
  await page.getByRole('heading', { name: 'The daemon on thinkpad is not running' }).waitFor()
  t.equal(await starts.count(), 0, 'one that was stopped starts nothing')

  await open('new')
  await page.getByRole('button', { name: /^Start on / }).waitFor()
  t.equal(await page.getByText('afield daemon start').count(), 0)
})
