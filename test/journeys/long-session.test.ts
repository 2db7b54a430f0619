import t, { type Test } from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { laterChinese } from '../../web/words/zh/later.ts'
import { type Device, openDevices } from '../kit/browser.ts'
import { fillSession } from '../kit/long-session.ts'
import { startServerProcess } from '../kit/server.ts'

const devices = await openDevices(t)

async function longSession(t: Test, messages = 2_400) {
  const server = await startServerProcess(t)
  const { secret, id, say } = await fillSession(server.url, messages)
  const device = await devices.open(t, server.url)
  await device.visit('/restore')
  await device.write('Account key', formatBackupKey(secret))
  await device.press('Restore')
  await device.see('Live')
  return { device, id, say }
}

/** Waits until this text is visible. */
async function onScreen({ page }: Device, text: string): Promise<void> {
  await page.waitForFunction(sought => {
    const blocks = [...document.querySelectorAll('.log-w .block')].filter(block => block.textContent?.includes(sought))
    return blocks.some(block => {
      const { top, bottom } = block.getBoundingClientRect()
      return top < innerHeight && bottom > 0
    })
  }, text)
}

const blocksDrawn = ({ page }: Device) => page.locator('.log-w .block').count()

t.test('the address of an old message leads to it, and one tap returns to the end', async t => {
  const { device, id } = await longSession(t)
  const { page } = device
  let pages = 0
  page.on('request', request => {
    if (/\/messages\?.*before_seq/.test(request.url())) pages++
  })
  await device.visit(`/s/${id}/m/7`)
  await onScreen(device, 'Tree 6 bears')
  t.equal(await page.locator('.is-target').count(), 1)
  t.ok(pages < 12, `${pages} pages of the server`)
  t.ok((await blocksDrawn(device)) < 150, 'only the blocks around it are rendered')

  await device.press(/Go to the latest|\d+ new/)
  await onScreen(device, 'This was the last.')
  t.ok((await blocksDrawn(device)) < 150)

  // Another message, from within the session.
  await device.visit(`/s/${id}`)
  await onScreen(device, 'This was the last.')
  await page.evaluate(path => {
    history.pushState(null, '', path)
    dispatchEvent(new PopStateEvent('popstate'))
  }, `/s/${id}/m/1203`)
  await onScreen(device, 'Tree 1202 bears')
})

t.test('scrolling up and down a long session passes every message, and only a few are rendered at a time', async t => {
  const { device, id } = await longSession(t)
  const { page } = device
  await device.visit(`/s/${id}/m/1203`)
  await onScreen(device, 'Tree 1202 bears')
  await page.evaluate(() => {
    const isBlock = (node: Node) => node instanceof HTMLElement && node.classList.contains('block')
    const watch = new MutationObserver(changes => {
      const count = changes.flatMap(({ addedNodes }) => [...addedNodes].filter(isBlock)).length
      document.body.dataset['most'] = String(Math.max(count, Number(document.body.dataset['most'] ?? 0)))
    })
    watch.observe(document.querySelector('.log-w') ?? document.body, { childList: true, subtree: true })
  })
  const seen = new Set<number>()
  let most = 0
  const read = async (by: number, until: string) => {
    await page.mouse.move(195, 400)
    for (;;) {
      const shown = await page.evaluate(() => {
        const texts = [...document.querySelectorAll('.log-w .block')].filter(block => {
          const { top, bottom } = block.getBoundingClientRect()
          return top < innerHeight && bottom > 0
        })
        return { texts: texts.map(block => block.textContent ?? ''), drawn: document.querySelectorAll('.log-w .block').length }
      })
      most = Math.max(most, shown.drawn)
      for (const text of shown.texts) {
        const number = /Tree (\d+) bears/.exec(text)?.[1]
        if (number !== undefined) seen.add(Number(number))
      }
      if (shown.texts.some(text => text.includes(until))) return
      await page.mouse.wheel(0, by)
      await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
    }
  }
  await read(-500, 'Tree 902 bears')
  await read(500, 'Tree 1402 bears')
  for (let number = 902; number <= 1402; number += 4) if (!seen.has(number)) t.fail(`Tree ${number} was never on the screen`)
  t.ok(most < 60, `${most} blocks drawn at most`)
  const atOnce = Number(await page.evaluate(() => document.body.dataset['most']))
  t.ok(atOnce > 0 && atOnce < 12, `${atOnce} blocks drawn at once`)
})

t.test('with any message length and screen height, the whole screen is filled', async t => {
  const { device, id, say } = await longSession(t, 100)
  const { page } = device
  await say(Array.from({ length: 400 }, (_, index) => ({ t: 'text' as const, text: `apple ${index}.` })))
  await page.setViewportSize({ width: 700, height: 4_000 })
  await device.visit(`/s/${id}`)
  await onScreen(device, 'apple 399.')
  await page.mouse.move(350, 2_000)
  for (let turn = 0; turn < 12; turn++) {
    await page.mouse.wheel(0, turn < 8 ? -900 : 900)
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
    const empty = await page.evaluate(() => {
      const column = document.querySelector('.log-w .col')?.getBoundingClientRect()
      const blocks = [...document.querySelectorAll('.log-w .block')].map(block => block.getBoundingClientRect())
      const first = Math.min(...blocks.map(({ top }) => top))
      const last = Math.max(...blocks.map(({ bottom }) => bottom))
      return {
        above: Math.max(0, first - Math.max(0, column?.top ?? 0)),
        below: Math.max(0, Math.min(innerHeight, column?.bottom ?? 0) - last)
      }
    })
    if (empty.above > 150 || empty.below > 150) t.fail(`after ${turn} turns of the wheel`, empty)
  }
  t.pass()
})

t.test('missed messages are counted while they load over a slow link, and appear at once when complete', async t => {
  const { device, id, say } = await longSession(t, 8)
  const { page, context } = device
  await device.visit(`/s/${id}`)
  await onScreen(device, 'This was the last.')
  await context.setOffline(true)
  await device.see('You are offline')
  for (let at = 0; at < 230; at += 10)
    await say(Array.from({ length: 10 }, (_, index) => ({ t: 'text', text: `Pear ${at + index}` }) as const))
  const second = Promise.withResolvers<void>()
  let pages = 0
  await page.route(/messages\?.*after_seq/, async route => {
    if (++pages > 1) await second.promise
    await route.continue()
  })
  await context.setOffline(false)
  await device.see('100 of 230 messages')
  t.equal(await page.getByText(/^Pear \d/).count(), 0, 'nothing moves while someone reads')
  second.resolve()
  await device.seeNoMore('Catching up')
  await page.getByText('3 new').or(page.getByText('Pear 229')).first().waitFor()
})

t.test('a text or diff too long for the page is read separately, and rendered where the reader is', async t => {
  const { device, id, say } = await longSession(t, 8)
  const { page } = device
  const path = '/home/mira/orchard/harvest.txt'
  const newText = Array.from({ length: 3_000 }, (_, index) => `basket ${index} of the orchard\n`).join('')
  await say([
    { t: 'text', text: `# The harvest\n\n${'It was **plenty** again. '.repeat(2_000)}` },
    { t: 'tool-call-start', call: 'long', name: 'Edit', title: 'Edit', description: '', args: { file_path: path }, kind: 'edit' },
    { t: 'tool-call-end', call: 'long', status: 'completed', content: [{ type: 'diff', path, oldText: 'nothing yet\n', newText }] }
  ])
  await device.visit(`/s/${id}`)
  await page.locator('.md strong').nth(1_999).waitFor()
  t.same(
    page.workers().map(worker => new URL(worker.url()).pathname.replace(/-\w+\.js$/, '')),
    ['/assets/reader']
  )
  const row = page.getByRole('button', { name: /harvest\.txt/ })
  t.match(await row.textContent(), /\+3000/)
  await row.click()
  await device.press('Load anyway')
  await page.getByText('basket 0 of the orchard').waitFor()
  t.ok((await page.locator('.dl').count()) < 1_500, 'lines far from the screen are not drawn')
})

t.test("a session opened by its address is in the reader's language", async t => {
  const { device, id } = await longSession(t, 8)
  const { page } = device
  await device.visit('/settings/language')
  await page.getByLabel('简体中文').click()
  await device.see('跟随浏览器')
  await device.visit(`/s/${id}`)
  await onScreen(device, 'This was the last.')
  t.equal(await page.getByRole('log').getAttribute('aria-label'), laterChinese.session.conversation)
})
