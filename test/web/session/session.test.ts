import type { BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { serveStories } from '../stories/serve.ts'

const phone = { viewport: { width: 390, height: 844 } }

t.test('the session screen in a real browser', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const open = async (
    t: Test,
    story: string,
    { isHeld = false, ...options }: BrowserContextOptions & { isHeld?: boolean } = {}
  ): Promise<Page> => {
    const context = await browser.newContext({ ...phone, ...options })
    t.teardown(() => context.close())
    const page = await context.newPage()
    page.setDefaultTimeout(10_000)
    page.on('pageerror', error => t.error(error, 'the page runs without an error'))
    page.on('console', message => {
      if (/content security policy|trusted/i.test(message.text())) t.fail(message.text())
    })
    await page.clock.install()
    // The clock stands still where a test is about the first moments.
    if (isHeld) await page.clock.pauseAt(Date.now() + 1000)
    await page.goto(`${origin}/?story=${story}`)
    return page
  }
  const sent = (page: Page) => page.locator('.life').waitFor()

  t.test('a tap at the moment a decision appears decides nothing [acceptance 1] [U1]', async t => {
    const page = await open(t, 'plain', { isHeld: true })
    const allow = page.getByRole('button', { name: 'Allow once' })
    await allow.click()
    t.equal(await page.locator('.life').count(), 0)
    await page.clock.runFor(450)
    await allow.click()
    await sent(page)
    t.match(await page.locator('.life').innerText(), /Sent/)
  })

  t.test('a risky one needs a long press: not a tap, not a single Enter [acceptance 1] [U1]', async t => {
    const page = await open(t, 'permission')
    await page.clock.runFor(450)
    await standStill(page)
    const hold = page.getByRole('button', { name: 'Hold to run once' })
    await hold.click()
    await hold.focus()
    await page.keyboard.press('Enter')
    await page.clock.runFor(2000)
    t.equal(await page.locator('.life').count(), 0)
    await hold.hover()
    await page.mouse.down()
    await page.clock.runFor(850)
    t.equal(await page.locator('.life').count(), 0)
    await page.clock.runFor(100)
    await sent(page)
    await page.mouse.up()
  })

  t.test('a plan starts in the mode that asks, and the never-ask mode needs a long press, whatever the agent calls it', async t => {
    const page = await open(t, 'plan-claude')
    await page.clock.runFor(450)
    await page.getByRole('radio', { name: 'Ask first', checked: true }).waitFor()
    await page.getByRole('radio', { name: 'Full auto' }).check()
    t.equal(await page.getByRole('button', { name: 'Start the work' }).count(), 0)
    await page.getByRole('button', { name: /^Hold to start/ }).waitFor()
  })

  t.test('the replacement of a message that no longer waits is shown as a new one, and keeps the earlier draft', async t => {
    const page = await open(t, 'changing')
    const field = page.getByRole('textbox')
    const first = page.locator('.queue li').first()
    await page.getByRole('button', { name: 'Cancel' }).click()
    t.equal(await field.evaluate(element => element === document.activeElement), true)
    await field.fill('half a sentence')
    await first.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Save change' }).waitFor()
    await field.fill('look at the sign-up, too')
    await first.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByRole('status').getByText('This will be sent as a new message.').waitFor()
    await page.getByRole('button', { name: 'Queue' }).click()
    t.equal(await field.inputValue(), 'half a sentence')
    await page.locator('.bub', { hasText: 'look at the sign-up, too' }).waitFor()
  })

  t.test('answering something else requires a text', async t => {
    const page = await open(t, 'question')
    await page.clock.runFor(450)
    const next = page.getByRole('button', { name: 'Next' })
    await page.getByRole('radio', { name: 'Something else…' }).check()
    t.equal(await next.isDisabled(), true)
    await page.getByText('Write your answer, or choose another.').waitFor()
    await page.getByRole('textbox', { name: 'Your answer' }).fill('  ')
    t.equal(await next.isDisabled(), true)
    await page.getByRole('textbox', { name: 'Your answer' }).fill('Memcached')
    await next.click()
    await page.getByRole('heading', { name: 'Which tests shall I write?' }).waitFor()
    await page.clock.runFor(450)
    const more = page.getByRole('checkbox').first()
    await more.check()
    await page.getByRole('checkbox', { name: 'Something else…' }).check()
    t.equal(await next.isDisabled(), true, 'nor beside others')
    await page.getByRole('checkbox', { name: 'Something else…' }).uncheck()
    await next.click()
    await page.getByRole('heading', { name: 'Your answers' }).waitFor()
  })

  t.test('a tap on a long-press button says so in place, until it is held', async t => {
    const page = await open(t, 'permission')
    await page.clock.runFor(450)
    await standStill(page)
    const hold = page.getByRole('button', { name: /^Hold to run once/ })
    t.equal(await page.getByText('Keep holding until the bar is full.').count(), 0)
    await hold.click()
    await hold.getByText('Keep holding until the bar is full.').waitFor()
    t.equal(await page.getByRole('status').filter({ hasText: 'Hold to run once' }).count(), 1, 'and is announced to screen readers')
    await hold.hover()
    await page.mouse.down()
    await page.clock.runFor(950)
    await sent(page)
    await page.mouse.up()
  })

  t.test('a risky one is never offered for more than once', async t => {
    const page = await open(t, 'permission')
    t.equal(await page.getByText('This session', { exact: true }).count(), 0)
  })

  t.test('a decision shows what would run and how similar ones were answered, where there is space', async t => {
    const page = await open(t, 'plain', { viewport: { width: 1400, height: 900 } })
    const side = page.locator('.chat-side')
    await side.getByRole('heading', { name: 'What would run' }).waitFor()
    await side.getByRole('heading', { name: 'Earlier similar requests' }).waitFor()
    t.match(await side.innerText(), /studio-mini/)
    await page.setViewportSize({ width: 1100, height: 900 })
    await side.waitFor({ state: 'hidden' })
  })

  t.test('next to an open decision the agent can be stopped, and the queue and the draft are reachable', async t => {
    const page = await open(t, 'deciding-queue')
    const field = page.getByRole('textbox', { name: /message/ })
    await page.locator('.queue li', { hasText: 'Then write the changelog' }).waitFor()
    t.ok(await field.isVisible())
    await page.getByRole('button', { name: 'Back to the decision' }).click()
    await field.waitFor({ state: 'hidden' })
    await page.locator('.foot-line .stop').click()
    await page.locator('.foot-line .stop.asked').waitFor()
    await page.getByRole('button', { name: /^Add a message/ }).click()
    t.ok(await field.evaluate(element => element === document.activeElement), 'the focus is where one writes')
    await page.keyboard.type('half a sentence')
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'hidden' })
    await page.locator('.line-w:focus').waitFor()
    await page.locator('.line-w').click()
    t.equal(await field.inputValue(), 'half a sentence')
    await page.getByRole('button', { name: 'Queue message' }).click()
    await field.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Allow once' }).waitFor()
  })

  t.test('a queued message is shown in the queue and not above the reply too', async t => {
    const page = await open(t, 'waiting-said')
    await page.locator('.queue').waitFor()
    await page.locator('.growing').waitFor()
    t.equal(await page.locator('.bub', { hasText: 'After SSO' }).count(), 1)
    t.equal(await page.locator('.bub', { hasText: 'And look at the logout' }).count(), 0)
    await page.evaluate('story.queue.value = []')
    await page.locator('.bub', { hasText: 'And look at the logout' }).waitFor()
  })

  t.test('on a phone in landscape the allow and deny buttons are visible at once, and stay visible', async t => {
    const sizes = [
      { width: 932, height: 360 },
      { width: 844, height: 330 },
      { width: 667, height: 300 },
      { width: 568, height: 256 }
    ]
    for (const story of ['plain', 'permission', 'careful', 'edit', 'long', 'other', 'plan', 'question', 'deciding-queue']) {
      const page = await open(t, story)
      for (const viewport of sizes) {
        await page.setViewportSize(viewport)
        const buttons = page.locator('.dock .acts button')
        await buttons.first().waitFor()
        const outOfSight = () =>
          buttons.evaluateAll(all =>
            all
              .filter(each => {
                const { left, right, top, bottom } = each.getBoundingClientRect()
                const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
                return top < 0 || bottom > innerHeight || right > innerWidth || !each.contains(hit)
              })
              .map(each => each.textContent)
          )
        // The page needs a frame or two to adapt to a rotated screen.
        let lost = await outOfSight()
        for (let frames = 0; lost.length > 0 && frames < 60; frames += 1) {
          await page.evaluate(() => new Promise(requestAnimationFrame))
          lost = await outOfSight()
        }
        t.strictSame(lost, [], `${story} at ${viewport.width} by ${viewport.height}`)
        t.ok((await buttons.count()) > 1)
      }
      await page.context().close()
    }
  })

  t.test('content longer than the screen must be scrolled through before it can be allowed [acceptance 4] [U5]', async t => {
    const page = await open(t, 'long')
    await page.clock.runFor(450)
    t.equal(await page.getByRole('button', { name: /^Allow/ }).count(), 0)
    await page.locator('.dock').evaluate(dock => dock.scrollTo({ top: dock.scrollHeight }))
    await page.getByRole('button', { name: 'Allow once' }).waitFor()
  })

  t.test('a button reads on, by less than a screen each time, until it can be allowed', async t => {
    const page = await open(t, 'long', { reducedMotion: 'reduce' })
    await page.clock.runFor(450)
    const dock = page.locator('.dock')
    const height = await dock.evaluate(element => element.clientHeight)
    const allow = page.getByRole('button', { name: 'Allow once' })
    let reached = 0
    while ((await allow.count()) === 0) {
      const scrolled = dock.evaluate(
        element => new Promise<number>(resolve => element.addEventListener('scrollend', () => resolve(element.scrollTop), { once: true }))
      )
      await page.getByRole('button', { name: 'Keep reading' }).click()
      const top = await scrolled
      t.ok(top > reached && top < reached + height * 0.8, `from ${reached} to ${top} of ${height}`)
      reached = top
    }
    t.ok(reached > 0)
  })

  t.test('offline nothing can be decided [acceptance 1]', async t => {
    const page = await open(t, 'stale')
    t.ok(await page.getByRole('button', { name: 'Allow once' }).isDisabled())
    await page.getByText('Checking if this is still open').waitFor()
  })

  t.test('hidden characters in a command are shown', async t => {
    const page = await open(t, 'hidden')
    t.match(await page.locator('.cmd').first().innerText(), /\\u\{202e\}.*\\u\{200b\}/)
  })

  t.test('agent output becomes text and safe links, never markup', async t => {
    const page = await open(t, 'markdown')
    const log = page.getByRole('log')
    t.match(await log.innerText(), '<script>alert(1)</script> and <b>this</b>')
    const links = await log.locator('a').evaluateAll(all => all.map(a => [a.getAttribute('href'), a.getAttribute('rel')]))
    t.ok(links.length > 0)
    for (const [href, rel] of links) t.match([href, rel], [/^https:\/\//, 'noopener noreferrer'])
    t.match(await log.innerText(), /good\.example\s+evil\.example/, 'where a link leads is said when its text says otherwise')
    t.equal(await log.locator('img').count(), 0)
  })

  t.test('a number question says so, and submits nothing else', async t => {
    const page = await open(t, 'question-number')
    await page.clock.runFor(450)
    await page.getByText('A whole number from 1 to 90.').waitFor()
    const field = page.getByLabel('Your answer')
    const send = page.getByRole('button', { name: 'Send answer' })
    for (const wrong of ['a week', '1.5', '0', '91']) {
      await field.fill(wrong)
      await page.getByText('Correct the number to send it.').waitFor()
      t.equal(await send.isDisabled(), true, wrong)
    }
    await field.fill('30')
    t.equal(await send.isDisabled(), false)
  })

  t.test('a link to a message that is gone says so and opens the end', async t => {
    const page = await open(t, 'message-gone&framed')
    const told = page.getByText('This message is no longer in the session.')
    await told.waitFor()
    t.equal(await page.locator('.to-end').count(), 0)
    await page.locator('.while-away').getByRole('button', { name: 'Done' }).click()
    await told.waitFor({ state: 'hidden' })
    t.equal(new URL(page.url()).pathname, '/s/s1')
  })

  t.test('a second session can be started after a message that the agent has read, upon confirmation', async t => {
    const page = await open(t, 'steps&framed')
    await page.locator('.bub', { hasText: 'Show me all kinds.' }).waitFor()
    await page.locator('.ticks-b').first().click()
    t.equal(await page.getByRole('button', { name: 'Fork from here' }).count(), 0, 'it has not read it')
    await page.goto(page.url().replace(/\/s\/s1.*/, '/?story=read&framed'))
    await page.locator('.ticks-b').first().click()
    await page.getByRole('button', { name: 'Fork from here' }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByText('After SSO people land on /home.').waitFor()
    await sheet.getByRole('button', { name: 'Cancel' }).click()
    await sheet.waitFor({ state: 'detached' })
  })

  t.test('new agent output is announced to screen readers; earlier output, and each single step, is not', async t => {
    const page = await open(t, 'session')
    await page.evaluate(`hear('All tests pass.')`)
    const log = page.getByRole('log')
    t.equal(await log.getAttribute('aria-live'), 'polite')
    t.equal(await log.locator('.block:not([aria-live])').innerText(), 'All tests pass.')
    t.ok((await log.locator('.block[aria-live="off"]').count()) > 3)
    t.equal(await page.locator('.strip [role="status"]').innerText(), '', 'running steps are shown, but not announced')
    await page.evaluate(`localStorage.setItem('afield-announces', 'false')`)
    await page.reload()
    await log.waitFor()
    t.equal(await log.getAttribute('aria-live'), 'off')
    await page.evaluate(`run('npm test')`)
    await page.getByText('npm test').first().waitFor()
    await page.clock.runFor(6000)
    t.equal(await page.locator('[data-announces]').textContent(), '', 'nor are steps')
  })

  t.test('for a killed agent the likely reason is shown', async t => {
    const page = await open(t, 'ended-killed')
    await page.getByText(/Exit 137, probably out of memory\. The session is safe\./).waitFor()
  })

  t.test('new content below does not move the text being read, and is counted', async t => {
    const page = await open(t, 'many')
    await page.mouse.move(195, 400)
    await page.mouse.wheel(0, -3000)
    await page.getByText('Go to the latest').waitFor({ state: 'attached' })
    const before = await topOfMiddle(page)
    for (let i = 0; i < 3; i++) await page.evaluate(`hear('news ${i}')`)
    await page.getByText('3 new').waitFor()
    t.same(await topOfMiddle(page), before)
    await page.getByText('3 new').click()
    await page.getByText('news 2').waitFor()
    t.equal(await page.locator('.to-end').count(), 0)
  })

  t.test('scrolling up loads more above without a jump', async t => {
    const page = await open(t, 'many')
    await page.mouse.move(195, 400)
    const count = () => page.locator('.block').count()
    const first = await count()
    t.ok(first < 60, 'only the end is drawn at first')
    await page.mouse.wheel(0, -20_000)
    await page.waitForFunction(before => document.querySelectorAll('.block').length > before, first)
    t.ok(await page.locator('[role=log]').evaluate(log => log.scrollTop > 0), 'the reader is not thrown to the top')
  })

  t.test('a message sent while a file is still being read waits for it', async t => {
    const page = await open(t, 'empty')
    const field = page.getByRole('textbox', { name: 'Message Claude' })
    await page.evaluate(`story.files.choose([{ name: 'plan.txt', size: 3 }])`)
    await field.fill('Follow this plan')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Sent as soon as the files are uploaded.').waitFor()
    t.equal(await page.locator('.bub').count(), 0)
    const file = { ref: 'r1', name: 'plan.txt', size: 3 }
    await page.evaluate(
      chosen => {
        Reflect.get(globalThis, 'story').files.chosen.value = chosen
      },
      [{ key: 'plan.txt', name: 'plan.txt', size: 3, state: { type: 'ready', file } }]
    )
    await page.locator('.bub', { hasText: 'Follow this plan' }).waitFor()
  })

  t.test('Enter sends on a desktop; the message appears in the log at once', async t => {
    const page = await open(t, 'empty', { viewport: { width: 1280, height: 800 } })
    const box = page.getByRole('textbox', { name: 'Message Claude' })
    await box.fill('Fix it')
    await box.press('Shift+Enter')
    await box.press('Enter')
    t.match(await page.locator('.bub').innerText(), 'Fix it')
    t.equal(await box.inputValue(), '')
  })

  t.test('on a phone Enter starts a new line', async t => {
    const page = await open(t, 'empty', { hasTouch: true, isMobile: true })
    const box = page.getByRole('textbox', { name: 'Message Claude' })
    await box.fill('Fix it')
    await box.press('Enter')
    t.equal(await page.locator('.bub').count(), 0)
  })
})

/** From now on its time passes only in `runFor`. */
async function standStill(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 100)
}

function topOfMiddle(page: Page): Promise<number | undefined> {
  return page.evaluate(() => document.elementFromPoint(195, 400)?.closest('.block')?.getBoundingClientRect().top)
}
