import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { goTo } from '../kit/on-the-page.ts'
import { openStory } from '../kit/open-story.ts'
import { tellSession } from '../kit/tell-session.ts'
import { session } from '../stories/app/world.ts'
import { serveStories } from '../stories/serve.ts'

const minute = 60_000
const now = Date.now()
const asked = (command: string) => ({
  tool: 'Bash',
  kind: 'execute' as const,
  arguments: { command },
  createdAt: now - 20 * minute,
  shown: 'h'
})

/** A session in which one was denied from this device some time ago, and these are open. */
const decided = (...open: string[]) =>
  session({
    title: 'Tidy the build scripts',
    id: 'decided',
    agentState: {
      requests: Object.fromEntries(open.map(command => [command, asked(command)])),
      completedRequests: {
        made: { ...asked('rm -rf dist'), completedAt: now - 10 * minute, status: 'denied', answeredBy: 'Chrome on Android' }
      }
    }
  })

t.test('the address of a decision that was made shows its outcome, until the next one of its session', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?app=needs-you', 'light')
  await tellSession(page, decided('npm test'))
  const notice = page.locator('.notices article')
  await goTo(page, '/needs-you/unknown')
  t.equal(await notice.count(), 0, 'nothing is known of another one')

  await goTo(page, '/needs-you/made')
  await notice.waitFor()
  t.match(await notice.innerText(), /Denied by you/)
  t.match(await notice.innerText(), /rm -rf dist/)
  await tellSession(page, decided('npm test', 'npm run build'))
  await notice.waitFor({ state: 'detached' })
})
