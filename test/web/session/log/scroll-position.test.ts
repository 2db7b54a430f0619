import type { Signal } from '@preact/signals'
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { SessionModel } from '../../../../web/model/session/session.ts'
import type { Transcript } from '../../../../web/model/transcript/transcript.ts'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

/** What a page with a story has for tests. */
type Story = { story: SessionModel; asked: string[]; seenSeq?: number; whole?: Transcript }

t.test("the reader's position in a session of 1,250 questions and answers", async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)

  t.test('a session opens at its end, with only the last blocks', async t => {
    const { rest, questions, blocks } = await open(t, browser, origin)
    t.ok((await rest()) < 1)
    t.equal((await questions()).at(-1), 1249)
    t.ok((await blocks()) <= 21, 'twenty, and perhaps their day')
  })

  t.test('the end is followed when something is added, grows or the screen gets lower', async t => {
    const { page, hear, rest, steady, write } = await open(t, browser, origin)
    for (let at = 0; at < 3; at++) {
      await hear(`news ${at} `.repeat(60))
      t.ok((await rest()) < 1, 'a message')
    }
    for (const length of [40, 400]) {
      await write('word '.repeat(length))
      t.ok((await rest()) < 1, 'a reply being written')
    }
    await page.setViewportSize({ width: 390, height: 500 })
    await steady()
    t.ok((await rest()) < 1, 'a keyboard')
    t.equal(await page.locator('.to-end').count(), 0)
  })

  t.test('near the end is at the end, and a little above it no longer', async t => {
    const { page, scroll, rest, hear } = await open(t, browser, origin)
    await scroll(-47)
    t.equal(await page.locator('.to-end').count(), 0)
    await hear('news')
    t.ok((await rest()) < 1)
    await scroll(-49)
    t.equal(await page.locator('.to-end').count(), 1)
    await hear('more news')
    t.ok((await rest()) > 49)
    t.equal(await page.locator('.to-end').innerText(), '1 new', 'what was seen at the end is not new')
    await scroll(10_000)
    t.equal(await page.locator('.to-end').count(), 0, 'whoever scrolls down arrives there')
    await hear('last news')
    t.ok((await rest()) < 1)
  })

  t.test('what is read stays in place while messages arrive below and older ones above', async t => {
    const { page, scroll, hear, hideOlder, showOlder, seen, write, blocks } = await open(t, browser, origin)
    await hideOlder(10)
    await scroll(-700)
    const before = await seen()
    await hear('news')
    await write('a reply')
    t.same(await seen(), before)
    await page.locator('.to-end', { hasText: '1 new' }).waitFor()
    const drawn = await blocks()
    await showOlder()
    t.same(await seen(), before)
    await scroll(-300)
    t.ok((await blocks()) > drawn, 'and they can be scrolled to')
  })

  t.test('sending a text goes to the end, wherever one reads', async t => {
    const { page, scroll, rest, questions } = await open(t, browser, origin)
    for (let at = 0; at < 8; at++) await scroll(-1500)
    t.ok(((await questions()).at(-1) ?? 0) < 1249, 'the end is not drawn')
    await page.getByRole('textbox', { name: 'Message Claude' }).fill('And now?')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.bub', { hasText: 'And now?' }).waitFor()
    await page.waitForFunction(() => document.querySelectorAll('.to-end').length === 0)
    t.ok((await rest()) < 1)
    t.equal((await questions()).at(-1), 1249)
  })

  t.test('scrolling up and down again draws only what is near, without a jump', async t => {
    const { page, scroll, blocks, questions, placeOf, rest } = await open(t, browser, origin)
    let most = 0
    for (let at = 0; at < 14; at++) {
      const [first] = await questions()
      const before = await placeOf(`Question ${first}`)
      await scroll(-800)
      t.ok(Math.abs((await placeOf(`Question ${first}`)) - before - 800) <= 1, `it moves as far as the finger, up to question ${first}`)
      most = Math.max(most, await blocks())
    }
    const [first, last] = [(await questions()).at(0) ?? 0, (await questions()).at(-1) ?? 0]
    t.ok(first < 1215 && last < 1249, `questions ${first} to ${last}`)
    for (let at = 0; at < 18; at++) {
      await scroll(800)
      most = Math.max(most, await blocks())
    }
    t.ok(most < 75, `${most} blocks at most`)
    t.ok((await rest()) < 1)
    t.equal((await questions()).at(-1), 1249)
    t.equal(await page.locator('.to-end').count(), 0)
  })

  t.test('a scroll bar dragged to where nothing was drawn shows what is there', async t => {
    const { page, scroll, screenIsFilled, questions } = await open(t, browser, origin)
    for (let at = 0; at < 20; at++) await scroll(-1200)
    const [, reached = 0] = await questions()
    await scroll(15_000)
    t.ok(await screenIsFilled())
    const now = await questions()
    t.ok((now[0] ?? 0) > reached && (now.at(-1) ?? 0) < 1249, `from ${reached} to ${now}`)
    await page.locator('.to-end').click()
    await page.locator('.block', { hasText: 'Question 1249' }).waitFor()
  })

  t.test('older messages are requested near the top, if there are any', async t => {
    const { scroll, hideOlder, older, asked } = await open(t, browser, origin)
    await hideOlder(40)
    await scroll(-500)
    t.same(await asked(), [], 'there is more to draw')
    for (let at = 0; at < 20; at++) await scroll(-1500)
    t.same([...new Set(await asked())], ['session.loadOlder [null]'])
    await older('none')
    const count = (await asked()).length
    await scroll(-100)
    t.equal((await asked()).length, count)
  })

  t.test('the message in the address is centred with what is around it, and stays there', async t => {
    const story = await open(t, browser, origin, '&framed')
    const { page, visit, seqOf, placeOf, blocks, questions, hear, hideOlder, showOlder, rest, steady } = story
    const isTarget = async (text: string) => (await page.locator('.is-target', { hasText: text }).count()) === 1
    await visit(await seqOf('Question 600'))
    t.ok(await isTarget('Question 600'))
    const { middle, height } = await page.getByRole('log').evaluate(log => {
      const { top, bottom, height } = log.getBoundingClientRect()
      return { middle: (top + bottom) / 2, height }
    })
    const before = await placeOf('Question 600')
    t.ok(Math.abs(before - middle) < height / 4, `at ${before} of ${middle}`)
    t.ok((await blocks()) < 60)
    await hear('news')
    t.equal(await placeOf('Question 600'), before)
    await visit(await seqOf('Question 30'))
    t.ok(await isTarget('Question 30'))
    await page.locator('.to-end').click()
    await steady()
    t.same([(await questions()).at(-1), (await rest()) < 1], [1249, true], 'the end is reached at once, however far it is')

    const seq = await seqOf('Question 900')
    await hideOlder(40)
    await visit(seq)
    await page.waitForFunction(sought => (globalThis as unknown as Story).asked.includes(sought), `session.loadOlder [${seq}]`)
    t.notOk(await isTarget('Question 900'))
    await showOlder()
    t.ok(await isTarget('Question 900'))
  })

  t.test('long at the end, the blocks far above are removed', async t => {
    const { hear, blocks, rest } = await open(t, browser, origin)
    for (let at = 0; at < 90; at++) await hear(`news ${at}`, false)
    t.ok((await blocks()) <= 80, `${await blocks()}`)
    t.ok((await rest()) < 1)
  })

  t.test('what was on the screen at the end counts as read, once the page is visible', async t => {
    const { page, scroll, hear, seenSeq, lastSeq, show } = await open(t, browser, origin)
    t.equal(await seenSeq(), await lastSeq())
    await scroll(-700)
    const before = await lastSeq()
    await hear('news')
    t.equal(await seenSeq(), before, 'not while one reads above')
    await show('hidden')
    await page.locator('.to-end').click()
    await page.locator('.to-end').waitFor({ state: 'detached' })
    t.equal(await seenSeq(), before, 'nor in the background')
    await show('visible')
    t.equal(await seenSeq(), await lastSeq())
    await show('hidden')
    await scroll(-700)
    await hear('more news')
    await show('visible')
    t.equal(await seenSeq(), before + 1)
  })
})

async function open(t: Test, browser: Browser, origin: string, more = '') {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  t.teardown(() => context.close())
  const page: Page = await context.newPage()
  page.setDefaultTimeout(10_000)
  page.on('pageerror', error => t.error(error, 'the page runs without an error'))
  await openStory(page, origin, `/?story=many${more}`, 'light')
  const log = page.getByRole('log')
  /** After what follows a change: rendering, resizing and scrolling. */
  const steady = () =>
    page.evaluate(async () => {
      for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame)
    })
  const inStory = async <Given, Result>(run: (given: Given) => Result, given: Given) => {
    const result = await page.evaluate(run as never, given)
    await steady()
    return result as Result
  }
  await steady()
  return {
    ...{ page, steady },
    /** How far it is to the end, in px. */
    rest: () => log.evaluate(element => element.scrollHeight - element.scrollTop - element.clientHeight),
    scroll: (by: number) =>
      log.evaluate(async (element, by) => {
        element.scrollBy(0, by)
        for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame)
      }, by),
    blocks: () => page.locator('.log-w .block').count(),
    /** The numbers of the questions that are drawn. */
    questions: () =>
      page
        .locator('.log-w .bub')
        .evaluateAll(all => all.flatMap(each => /Question (\d+)/.exec(each.textContent ?? '')?.[1] ?? []).map(Number)),
    placeOf: (text: string) =>
      page
        .locator('.log-w .block', { hasText: new RegExp(`${text}(?!\\d)`) })
        .first()
        .evaluate(block => block.getBoundingClientRect().top),
    /** The texts on the screen, and where they are. */
    seen: () =>
      log.evaluate(element => {
        const { top, bottom } = element.getBoundingClientRect()
        const all = [...element.querySelectorAll('.block')].map(block => ({ block, at: block.getBoundingClientRect() }))
        return all.filter(({ at }) => at.bottom > top && at.top < bottom).map(({ block, at }) => `${at.top} ${block.textContent}`)
      }),
    screenIsFilled: () =>
      log.evaluate(element => {
        const { top, bottom } = element.getBoundingClientRect()
        const all = [...element.querySelectorAll('.block')].map(block => block.getBoundingClientRect())
        return Math.min(...all.map(each => each.top)) <= top && Math.max(...all.map(each => each.bottom)) >= bottom - 100
      }),
    async hear(text: string, isSeen = true) {
      await page.evaluate(text => Reflect.get(globalThis, 'hear')(text), text)
      if (isSeen) await steady()
    },
    /** The agent writes this. */
    write: (text: string) =>
      inStory(text => {
        const transcript = (globalThis as unknown as Story).story.transcript as Signal<Transcript>
        const partials = [{ ...transcript.value.partials[0], block: 'b1', turn: 'now', text }] as unknown as Transcript['partials']
        transcript.value = { ...transcript.value, partials }
      }, text),
    /** Only so many of the last questions are loaded so far. */
    hideOlder: (count: number) =>
      inStory(count => {
        const page = globalThis as unknown as Story
        const transcript = page.story.transcript as Signal<Transcript>
        page.whole = transcript.value
        const { items, messages } = transcript.value
        const from = items.filter(({ type }) => type === 'mine').at(-count)?.seq ?? 0
        transcript.value = {
          ...transcript.value,
          items: items.filter(({ seq }) => seq >= from),
          messages: messages.filter(({ seq }) => seq >= from)
        }
      }, count),
    showOlder: () =>
      inStory(() => {
        const { story, whole } = globalThis as unknown as Story
        const transcript = story.transcript as Signal<Transcript>
        const { items, messages } = transcript.value
        const isOlder = ({ seq }: { seq: number }) => seq < (messages[0]?.seq ?? 0)
        if (!whole) throw new Error('nothing is hidden')
        transcript.value = {
          ...transcript.value,
          items: [...whole.items.filter(isOlder), ...items],
          messages: [...whole.messages.filter(isOlder), ...messages]
        }
      }, undefined),
    older: (state: 'none' | 'more') =>
      inStory(state => {
        ;((globalThis as unknown as Story).story.older as Signal<string>).value = state
      }, state),
    asked: () => page.evaluate(() => (globalThis as unknown as Story).asked.filter(each => each.startsWith('session.loadOlder'))),
    seqOf: (text: string) =>
      page.evaluate(text => {
        const { items } = (globalThis as unknown as Story).story.transcript.value
        return items.find(item => item.type === 'mine' && item.text === text)?.seq ?? 0
      }, text),
    lastSeq: () => page.evaluate(() => (globalThis as unknown as Story).story.transcript.value.messages.at(-1)?.seq ?? 0),
    seenSeq: () => page.evaluate(() => (globalThis as unknown as Story).seenSeq),
    visit: (seq: number) =>
      inStory(path => {
        history.pushState(null, '', path)
        dispatchEvent(new PopStateEvent('popstate'))
      }, `/s/s1/m/${seq}`),
    show: (state: string) =>
      inStory(state => {
        Object.defineProperty(document, 'visibilityState', { value: state, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      }, state)
  }
}
