import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { hasHidden } from '../../../../lib/protocol/sealed/decisions/hidden-characters.ts'
import type { OpenRequest } from '../../../../web/model/decisions/decisions.ts'
import { openChromium } from '../../../kit/chromium.ts'
import { serveStories } from '../../stories/serve.ts'

const { origin, close } = await serveStories()
t.teardown(close)
const browser = await openChromium(t)

t.test('while a no is being given, no button is in the place of Allow or looks like it [U1]', async t => {
  const page = await open(t, 'plain')
  const allow = await page.getByRole('button', { name: 'Allow once' }).boundingBox()
  await page.getByRole('button', { name: 'Deny…' }).click()
  await page.getByRole('button', { name: 'Deny, continue' }).waitFor()
  for (const button of await page.locator('.dock button').all()) {
    const name = await button.innerText()
    t.notOk(overlap(allow, await button.boundingBox()), `${name} is elsewhere`)
    t.notMatch(await button.getAttribute('class'), /primary|danger/, `${name} looks otherwise`)
  }
})

t.test('the reason for denying a plan that could not be sent is in the message field', async t => {
  const page = await open(t, 'plan')
  // Its wrapper does not forward reasons, and this device cannot store messages.
  await page.evaluate('story.facts.value = { ...story.facts.value, methods: undefined }')
  await page.evaluate(`story.texts.send = () => Promise.reject(new Error('no room'))`)
  await page.getByRole('button', { name: 'Change it…' }).click()
  await page.getByLabel('What should be different?').fill('Keep Babel')
  await page.clock.runFor(450)
  await page.getByRole('button', { name: 'Send back' }).click()
  await page.getByText('This device could not send what you wrote.').waitFor()
  t.equal(await page.locator('.foot-area textarea').inputValue(), 'Keep Babel')
})

t.test('a form shows its position once, and why it cannot continue yet', async t => {
  const page = await open(t, 'question')
  const header = page.locator('.dock-h')
  t.match(await header.innerText(), 'Codex asks, question 1 of 2')
  const next = page.getByRole('button', { name: 'Next' })
  t.ok(await next.isDisabled())
  t.equal(await described(page), 'Answer this question first.')
  await page.getByRole('radio').first().check()
  t.equal(await described(page), 'Answers are sent together after the last question.')
  await next.click()
  await page.clock.runFor(450)
  t.match(await header.innerText(), 'question 2 of 2')
  await next.click()
  await page.getByRole('heading', { name: 'Your answers' }).waitFor()
  t.notMatch(await header.innerText(), / of 2/, 'an answered question no longer counts')
})

t.test('keys choose answers by their number, the last is for an own answer, and digits typed there are only text', async t => {
  const page = await open(t, 'question')
  const chosen = () =>
    page.locator('.dock input:checked').evaluateAll(all => all.map(each => each.closest('label')?.innerText.split('\n')[0]))
  const keys: [key: string, chosen: string[]][] = [
    ['0', []],
    ['5', []],
    ['Control+1', []],
    ['Alt+1', []],
    ['1', ['Redis, as for sessions']],
    ['3', ['OS keychain on the client']],
    ['4', ['Something else…']],
    ['1', ['Something else…']]
  ]
  for (const [key, labels] of keys) {
    await page.keyboard.press(key)
    t.same(await chosen(), labels, key)
  }
  t.equal(await page.locator('.dock textarea').inputValue(), '1')
})

t.test('a page is opened only when its address can be read, and not by a tap meant for something else', async t => {
  const page = await open(t, 'page')
  const answers = () => page.evaluate('answers')
  await page.evaluate(`answers = []; story.answerQuestion = (question, answer) => { answers.push(answer ?? 'refused') }`)
  const link = page.getByRole('link', { name: 'Open' })
  await page.evaluate(
    `story.questions.value = story.questions.value.map(each => ({ ...each, url: 'javascript:alert(1)', shown: 'other' }))`
  )
  await page.clock.runFor(450)
  t.equal(await link.getAttribute('href'), '#')
  t.equal(await link.getAttribute('aria-disabled'), 'true')
  await link.click({ force: true })
  t.same(await answers(), [])
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000)
  await page.evaluate(
    `story.questions.value = story.questions.value.map(each => ({ ...each, url: 'https://example.org/x', shown: 'third' }))`
  )
  await link.click({ force: true })
  await page.getByRole('button', { name: 'Decline' }).click()
  t.same(await answers(), [], 'it has just appeared')
  await page.clock.runFor(450)
  await page.getByRole('button', { name: 'Decline' }).click()
  t.same(await answers(), ['refused'])
})

t.test('an optional question says so, and changing one leads back to all answers', async t => {
  const page = await open(t, 'question')
  const header = page.locator('.dock-h')
  const press = async (name: string) => {
    await page.getByRole('button', { name }).first().click()
    await page.clock.runFor(450)
  }
  t.notMatch(await header.innerText(), 'optional')
  await page.getByRole('radio').first().check()
  await press('Next')
  t.match(await header.innerText(), 'question 2 of 2 · optional')
  await press('Next')
  await page.getByText('Not answered').waitFor()
  await press('Change')
  await page.getByRole('radio').nth(1).check()
  await press('Done')
  await page.getByRole('heading', { name: 'Your answers' }).waitFor()
  t.match(await page.locator('.answers').innerText(), 'Postgres')
})

t.test('a form next to other requests counts only its own questions', async t => {
  const page = await open(t, 'question-beside')
  const next = page.getByRole('button', { name: 'Next decision' })
  await page.getByRole('heading', { name: 'Which store should hold refresh tokens?' }).waitFor()
  t.match(await page.locator('.dock-h').innerText(), /question 1 of 2\n/)
  t.equal((await page.locator('.dock-h').innerText()).match(/ of /g)?.length, 1)
  await next.click()
  await page.getByRole('heading', { name: 'Run this command?' }).waitFor()
})

t.test('an answered request is shown as answered next to open ones, and names who answered even when collapsed', async t => {
  const page = await open(t, 'allowed')
  const step = (name: string) => page.locator('.step', { hasText: name })
  t.match(await step('Ship 2.4.1').innerText(), /^Allowed Ship 2\.4\.1/)
  t.match(await step('git push').innerText(), /Allowed once by you, \d+:\d+/)
  t.equal(await step('git push').getByRole('button').getAttribute('aria-expanded'), 'false')
  await step('git push').getByRole('button').click()
  await step('git push').getByText('forced update').waitFor()
  t.equal(await step('git push').getByText('Allowed once by you').count(), 1)
  t.same(await page.getByText(/^Wants to/).allInnerTexts(), ['Wants to run npm test'])
})

t.test('next to a waiting command its effect is shown, and no plan', async t => {
  const page = await open(t, 'allowed', { width: 1400, height: 900 })
  const side = page.locator('.chat-side')
  await side.getByRole('heading', { name: 'What would run' }).waitFor()
  t.same(await side.getByRole('heading').allInnerTexts(), ['What would run', 'Earlier similar requests'])
})

t.test('a decision shows its folder with the full path, also on a phone', async t => {
  const page = await open(t, 'permission')
  t.equal(await page.locator('.dock .where code').first().innerText(), '/home/mira/work/orchard-api')
})

t.test('the trial of an earlier pattern is not shown as that of the rule being edited', async t => {
  const page = await open(t, 'plain')
  await page.evaluate(() => {
    const { requests } = Reflect.get(globalThis, 'story')
    const suggestedRule = { on: 'command', pattern: 'npm run build', folder: '/home/mira' }
    requests.value = requests.value.map((each: object) => ({ ...each, suggestedRule }))
  })
  await page.getByRole('button', { name: 'Always' }).click()
  const pattern = page.getByRole('dialog').getByLabel('Pattern')
  const trial = page.locator('.trial')
  await pattern.fill('slow *')
  await page.clock.runFor(300)
  await page.waitForFunction(() => 'answerSlowly' in globalThis)
  await pattern.fill('npm run *')
  await page.clock.runFor(300)
  await trial.getByText('41 of your last 50').waitFor()
  await page.evaluate('answerSlowly()')
  await page.clock.runFor(300)
  t.match(await trial.innerText(), '41 of your last 50')
})

t.test('nothing that a decision shows hides a character', async t => {
  const page = await open(t, 'hidden-paths')
  const dock = page.locator('.dock')
  const text = await dock.innerText()
  t.equal(hasHidden(text.replaceAll('\xa0', ' ')), false, text)
  const escapes = [
    'src/\\u{202e}safe',
    '/etc/pa\\u{200b}sswd',
    '/tmp/\\u{2066}away',
    'na\\u{200b}me',
    'va\\u{200b}lue',
    'rea\\u{202e}son',
    'tw\\u{202e}o',
    'orchard-api\\u{200b}'
  ]
  for (const escaped of escapes) t.ok(text.includes(escaped), escaped)
})

t.test("of an agent's own choices the chosen one is sent, and one that did not arrive can be sent again", async t => {
  const page = await open(t, 'plain')
  await page.evaluate(() => {
    const { story } = globalThis as unknown as { story: { requests: { value: OpenRequest[] } } }
    const choices = [
      { id: 'x', label: 'Yes, and show it', kind: 'allow_once' as const },
      { id: 'y', label: 'Yes, quietly', kind: 'allow_once' as const },
      { id: 'z', label: 'No', kind: 'reject_once' as const }
    ]
    story.requests.value = story.requests.value.map(request => ({ ...request, choices }))
  })
  const answer = page.locator('.dock').getByRole('button', { name: 'Send answer' })
  await answer.waitFor()
  t.ok(await answer.isDisabled(), 'nothing is chosen for the reader')
  await page.getByRole('radio', { name: 'Yes, quietly' }).check()
  await page.clock.runFor(450)
  await answer.click()
  await page.locator('.life').waitFor()
  t.match(await page.evaluate(() => Reflect.get(globalThis, 'asked')), [/^session\.answer .*"y"/])
  await page.evaluate(() => {
    const { story } = globalThis as unknown as { story: { lives: { value: Map<string, { life: object }> } } }
    const failed = { type: 'failed', why: 'away', says: '' }
    story.lives.value = new Map([...story.lives.value].map(([id, each]) => [id, { ...each, life: failed }]))
  })
  await page.locator('.dock .problem', { hasText: /is offline\. Nothing was decided\./ }).waitFor()
  await page.getByRole('radio', { name: 'No' }).check()
  await page.clock.runFor(450)
  await answer.click()
  await page.locator('.life').waitFor()
  t.equal(await page.locator('.dock .problem').count(), 0)
})

type Box = Awaited<ReturnType<ReturnType<Page['locator']>['boundingBox']>>

function overlap(a: Box, b: Box): boolean {
  if (a === null || b === null) throw new Error('Both are shown.')
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

/** The description of the button that continues. */
function described(page: Page): Promise<string | null | undefined> {
  return page.locator('.dock .acts > :last-child').evaluate(button => {
    return document.getElementById(button.getAttribute('aria-describedby') ?? '')?.textContent
  })
}

async function open(t: Test, story: string, viewport = { width: 390, height: 844 }): Promise<Page> {
  const context = await browser.newContext({ viewport })
  t.teardown(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  page.on('pageerror', error => t.error(error, 'the page runs without an error'))
  await page.clock.install()
  await page.goto(`${origin}/?story=${story}`)
  await page.locator('.dock').waitFor()
  await page.clock.runFor(450)
  return page
}
