import t from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { tellSession } from '../../kit/tell-session.ts'
import { session, studio, thinkpad } from '../../stories/app/world.ts'
import { serveStories } from '../../stories/serve.ts'

const running = { lifecycleState: 'running' }

const rows: [line: string, of: Parameters<typeof session>[0]][] = [
  ['Its tests pass.', { title: 'Ended with words', isActive: false, line: 'Its tests pass.' }],
  ['Ended', { title: 'Ended without a word', isActive: false }],
  ['Waiting for thinkpad', { title: 'On a computer that sleeps', isActive: false, on: thinkpad, metadata: running }],
  ['Its daemon is not running', { title: 'On one without a daemon', isActive: false, on: studio, metadata: running }],
  ['Working', { title: 'At work without a word', isThinking: true }],
  ['Looking at it', { title: 'At work', isThinking: true, line: 'Looking at it' }],
  ['Just started', { title: 'Begun' }],
  ['Ready for a message', { title: 'Resumed', ago: 3, line: 'Done.', end: 'completed', metadata: { lifecycleStateSince: Date.now() } }],
  ['Ran npm test', { title: 'After a command', line: 'npm test', command: { call: 'c1', hasRun: true } }]
]

t.test('the row of a session says in one line how it is', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?app=home-plain', 'light')
  for (const [line, of] of rows) {
    await tellSession(page, session({ ...of, id: of.title }))
    t.equal(
      await page
        .locator(`.row[href="/s/${encodeURIComponent(of.title)}"]`)
        .locator('.row-a')
        .innerText(),
      line,
      of.title
    )
  }
})
