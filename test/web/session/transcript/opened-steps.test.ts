import type { Signal } from '@preact/signals'
import type { Page } from 'playwright-core'
import t from 'tap'
import type { Answered } from '../../../../web/model/decisions/decisions.ts'
import type { SessionModel } from '../../../../web/model/session/session.ts'
import { openChromium } from '../../../kit/chromium.ts'
import { serveStories } from '../../stories/serve.ts'

t.test("the details of a session's steps, in a real browser", async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const page: Page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  const row = (name: RegExp) => page.locator('.step > button.tool-s').filter({ hasText: name })
  const bodyOf = (name: RegExp) =>
    page
      .locator('.step')
      .filter({ has: page.locator('button.tool-s').filter({ hasText: name }) })
      .locator('.tool-b')
      .first()

  t.test('a read file shows which lines, and links to the file in the folder', async t => {
    await page.goto(`${origin}/?story=steps&framed`)
    await row(/Read src\/auth\/session\.ts/)
      .getByText('lines 118–120')
      .waitFor()
    await row(/Read src\/auth\/session\.ts/).click()
    const link = bodyOf(/Read src\/auth/).getByRole('link', { name: 'Open file' })
    t.equal(await link.getAttribute('href'), '/s/s1/files/src/auth/session.ts')
  })

  t.test('a step shows its duration, without the time it waited for a person', async t => {
    const ran = row(/Ran npm test/).locator('.tool-m')
    t.match(await ran.innerText(), /12 s/)
    await page.evaluate(() => {
      const { transcript, answered } = (globalThis as unknown as { story: SessionModel }).story
      const step = transcript.value.items.find(item => item.type === 'step' && item.args['command'] === 'npm test')
      if (step?.type !== 'step' || step.endedAt === undefined) throw new Error('no such step')
      const { call, name: tool, args, endedAt } = step
      const answer = { id: 'p9', call, tool, args, title: undefined, outcome: 'allowed-once', reason: undefined, by: 'me' } as const
      ;(answered as Signal<readonly Answered[]>).value = [{ ...answer, at: endedAt - 4000 }]
    })
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.tool-s')].some(each => /Ran npm test.*[^1] ?4 s/s.test(each.textContent ?? ''))
    )
    t.notMatch(await ran.innerText(), /12 s/)
  })

  t.test('a web fetch shows its status and size', async t => {
    t.match(await row(/Fetched datatracker\.ietf\.org/).innerText(), /200, 48\skB/)
  })

  t.test('a written file links to itself too', async t => {
    const link = bodyOf(/Wrote src\/auth\/return-path\.ts/).getByRole('link', { name: 'Open file' })
    t.equal(await link.getAttribute('href'), '/s/s1/files/src/auth/return-path.ts')
  })

  t.test('the reason for a denied step is shown once', async t => {
    const body = bodyOf(/Denied rm -rf dist/)
    await body.waitFor()
    t.equal((await body.innerText()).match(/Use npm run clean/g)?.length, 1)
  })

  t.test('a very long output says how much of it can be shown', async t => {
    await row(/Ran npm run build/).click()
    await bodyOf(/Ran npm run build/)
      .getByRole('button', { name: 'Last 2,000 of 3,005 lines' })
      .click()
    t.match(
      await bodyOf(/Ran npm run build/)
        .locator('pre.out')
        .innerText(),
      /^bundle 1006 written\n/
    )
  })

  t.test('arguments of another tool are shown under readable names, with the raw form available', async t => {
    await row(/Used linear: create_issue/).click()
    const body = bodyOf(/Used linear: create_issue/)
    t.same(await body.locator('dt').allInnerTexts(), ['Title', 'Issue type'])
    t.equal(await body.getByText('"issueType": "bug"').isVisible(), false)
    await body.getByText('Details').click()
    t.match(JSON.parse(await body.locator('pre').innerText()), { mcp__linear__create_issue: { issueType: 'bug' } })
    await body.getByRole('button', { name: 'Copy the call' }).waitFor()
  })

  t.test('of an error output the last lines are shown, and all of it on demand', async t => {
    await page.goto(`${origin}/?story=not-resumed`)
    const trouble = page.getByRole('alert')
    t.match(await trouble.locator('pre').first().innerText(), /^ +\^\nError .*\nNode\.js v24\.4\.0$/)
    await trouble.getByText('Details').click()
    t.match(await trouble.locator('details pre').innerText(), /^Claude Code did not come up\./)
    await trouble.getByRole('button', { name: 'Copy the output' }).waitFor()
  })

  t.test('bidirectional control characters in agent output are escaped', async () => {
    await page.goto(`${origin}/?story=markdown`)
    await page.getByText('invoice\\u{202e}fdp.exe').waitFor()
  })

  t.test('the text of a task is next to its checkbox, aligned like other items', async t => {
    const item = page.locator('.md-task', { hasText: 'write the note' })
    const box = (await item.locator('input').boundingBox()) ?? { x: 0, width: 0 }
    const text = (await item.boundingBox()) ?? { x: 0 }
    const other = (await page.locator('.md ol > li').first().boundingBox()) ?? { x: 0 }
    t.ok(box.x + box.width < text.x, 'the box is before all lines')
    t.equal(text.x, other.x)
  })

  t.test('unclosed Markdown syntax is not shown while the agent writes', async t => {
    await page.goto(`${origin}/?story=streaming`)
    await page.locator('.growing strong', { hasText: 'goes' }).waitFor()
    t.notMatch(await page.locator('.growing').innerText(), /\*/)
  })

  t.test('long code lines are wrapped by a button and by a double tap, for one block only', async t => {
    await page.goto(`${origin}/?story=markdown`)
    const code = page.locator('.code pre')
    const wrap = page.getByRole('button', { name: 'Wrap long lines' })
    const isWhole = () => code.evaluate(pre => pre.scrollWidth <= pre.clientWidth)
    t.equal(await isWhole(), false)
    await wrap.click()
    t.equal(await isWhole(), true)
    t.equal(await wrap.getAttribute('aria-pressed'), 'true')
    await code.dblclick()
    t.equal(await isWhole(), true, 'with a mouse a second click takes a word')
    await code.dispatchEvent('pointerdown', { pointerType: 'touch' })
    await code.dispatchEvent('dblclick')
    await page.locator('.code:not(.wraps)').waitFor()
    t.equal(await isWhole(), false)
  })

  t.test('expanding a step at the end leaves it where it was pressed', async t => {
    await page.setViewportSize({ width: 390, height: 600 })
    await page.goto(`${origin}/?story=ended&framed`)
    const log = page.getByRole('log')
    const edited = row(/Edited src\/auth\/callback\.ts/)
    // When closed, the end of the session is within the screen.
    await edited.click()
    await page.locator('.tool-s[aria-expanded=false]', { hasText: 'Edited' }).waitFor()
    await log.evaluate(element => element.scrollTo(0, element.scrollHeight))
    const before = await edited.boundingBox()
    await edited.click()
    await bodyOf(/Edited/).waitFor()
    await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    t.equal((await edited.boundingBox())?.y, before?.y)
    const rest = await log.evaluate(element => element.scrollHeight - element.scrollTop - element.clientHeight)
    t.ok(rest > 100, 'with more of it below')
  })
})
