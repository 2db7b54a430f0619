import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { marked } from 'marked'
import type { Page, WebSocketRoute } from 'playwright-core'
import t, { type Test } from 'tap'
import { startLinking } from '../../lib/client/sign-in/linking.ts'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { openChromium } from '../kit/chromium.ts'
import { sampleSeed } from '../kit/seed.ts'
import { startServer } from '../kit/server.ts'
import { hostileWorld } from './kit/hostile-world.ts'
import { withoutPolicy } from './kit/no-policy.ts'
import { fieldsOn, goTo } from './kit/on-the-page.ts'
import { openEveryPlace } from './kit/places.ts'
import { watchForHarm } from './kit/watch-for-harm.ts'
import { evilWords, mutations, nameOf, payloads } from './kit/xss.ts'

// To run longer and with other samples: AFIELD_XSS_SECONDS=600 AFIELD_SEED=2 TAP_TIMEOUT=700 node test/web/xss.test.ts
const seconds = Number(process.env['AFIELD_XSS_SECONDS'] ?? 1)
const { number: seed } = sampleSeed

// Shown only after an answer was rejected, which is the last step.
const unseen = new Set(['answer.refusal'])

const browser = openChromium(t)

async function openPage(t: Test): Promise<Page> {
  const look = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', serviceWorkers: 'block' } as const
  const context = await (await browser).newContext(look)
  t.teardown(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  return page
}

/** Signs in to the account; returns whether the app was served with its policy. */
async function restore(page: Page, url: string, secret: Uint8Array): Promise<boolean> {
  const answer = await page.goto(`${url}/restore`)
  await page.getByLabel('Account key').first().fill(formatBackupKey(secret))
  await page.getByRole('button', { name: 'Restore' }).click()
  await page.getByText('Live').first().waitFor()
  return answer?.headers()['content-security-policy'] !== undefined
}

/** Allows the request, like a person who scrolls to its end first and does not press too early. */
async function allow(page: Page): Promise<void> {
  const button = page.locator('.dock').getByRole('button', { name: /^Allow/ })
  const isThere = (selector: string) => {
    const dock = document.querySelector(selector)
    dock?.scrollTo(0, dock.scrollHeight)
    return [...(dock?.querySelectorAll('button') ?? [])].some(each => each.textContent.startsWith('Allow'))
  }
  await page.waitForFunction(isThere, '.dock')
  const awakeAt = (await page.evaluate(() => performance.now())) + 450
  await page.waitForFunction(at => performance.now() > at, awakeAt)
  await button.click()
}

/** Exports a session to a file from the sheet, which stays open for another. */
async function exported(page: Page, button: string): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button }).click()])
  return readFileSync(await download.path(), 'utf8')
}

t.test(`no text of an agent, folder or computer becomes more than text, from seed ${seed} [H5] [H6]`, async t => {
  const server = await startServer(t, { idleAfterMs: 600_000, signup: 'approve' })
  const bare = await withoutPolicy(t, server.url)
  const { evil, fields } = evilWords(seed)
  const world = await hostileWorld(t, server, evil)
  const { id } = await world.session(evil)
  const calm = await world.session(evil, { isAsking: false })
  await world.session(evil, { isAsking: false, isAway: true })
  const page = await openPage(t)
  const { harm } = await watchForHarm(page, bare)
  const links = new Set<WebSocketRoute>()
  let isCut = false
  await page.routeWebSocket(/./, link => {
    links.add(link)
    if (isCut) void link.close()
    else link.connectToServer()
  })
  // The server, or a proxy in front of it, reports where a device was last used.
  await page.route('**/v1/devices', async route => {
    const answer = await route.fetch()
    const { devices } = await answer.json()
    await route.fulfill({
      response: answer,
      json: { devices: devices.map((each: object) => ({ ...each, lastUsedFrom: evil('device.from') })) }
    })
  })
  t.notOk(await restore(page, bare, world.secret), 'there is no policy')

  await t.test('in every field, even without the policy', async t => {
    t.same(await harm(), [])
    const seen = new Set<string>()
    const asker = await startLinking('terminal', { server: bare, deviceName: evil('asker.name'), fetch })
    if (asker === 'unsupported') throw new Error('This server links devices.')
    await openEveryPlace(page, { asking: id, calm, machine: world.machine, pairing: asker.link, evil }, async place => {
      t.same(await harm(), [], place)
      for (const field of await fieldsOn(page)) seen.add(field)
    })
    t.same([...fields].filter(field => !seen.has(field) && !unseen.has(field)).sort(), [], 'every field was on the screen')
    t.same(
      [...unseen].filter(field => seen.has(field)),
      [],
      'and none of those that never are'
    )
  })

  await t.test('each alone and its mutations, as agent output', async t => {
    const { id, say } = await world.session()
    await goTo(page, `/s/${id}`)
    const log = page.getByRole('log')
    await log.waitFor()
    // A few at a time: parts far from the end of a conversation are not rendered.
    for (let from = 0; from < payloads.length; from += 10) {
      await say([...payloads.slice(from, from + 10), `Those were ${from}.`])
      await log.getByText(`Those were ${from}.`, { exact: true }).waitFor()
      t.same(await harm(), [], `payloads from ${from} on`)
    }
    const more = mutations(seed)
    const until = performance.now() + seconds * 1000
    let count = 0
    for (let round = 1; performance.now() < until; round++) {
      const texts = Array.from({ length: 40 }, () => more.next().value ?? '')
      await say([...texts, `Round ${round} is over.`])
      await log.getByText(`Round ${round} is over.`, { exact: true }).waitFor()
      const found = await harm()
      count += texts.length
      if (found.length === 0) continue
      t.same(found, [], texts.join('\n'))
      break
    }
    t.comment(`${count} texts`)
    t.ok(count > 0)
  })

  await t.test('in an export, opened as is and by a permissive Markdown viewer', async t => {
    await goTo(page, `/s/${calm.id}`)
    await page.getByRole('button', { name: 'Session menu' }).click()
    await page.getByRole('menuitem', { name: 'Export' }).click()
    const viewer = await openPage(t)
    const folder = t.testdir()
    const { harm } = await watchForHarm(viewer, 'null')
    for (const [form, button] of [
      ['md', 'To read (Markdown)'],
      ['json', 'For programs (JSON)']
    ] as const) {
      const text = await exported(page, button)
      for (const field of ['session.summary', 'prose', 'mine.text', 'execute.said', 'acp.message'])
        t.match(text, nameOf(field), `${form} has ${field}`)
      const shown = form === 'md' ? [text, await marked(text)] : [text]
      for (const [index, content] of shown.entries()) {
        const file = join(folder, index === 0 ? `session.${form}` : 'viewed.html')
        writeFileSync(file, content)
        await viewer.goto(pathToFileURL(file).href)
        await viewer.evaluate(() => new Promise(requestAnimationFrame))
        // Links lead only to the web, and open in a window of their own.
        const found = (await harm()).filter(each => !/^(an opener|a link: A href=https:)/.test(each))
        t.same(found, [], index === 0 ? form : 'the view of it')
      }
    }
  })

  await t.test('in a rejected answer, and in one that waits for a link', async t => {
    await goTo(page, `/s/${id}`)
    const dock = page.locator('.dock')
    await dock.getByText(nameOf('short.command')).first().waitFor()
    await allow(page)
    await dock.getByText(nameOf('answer.refusal')).first().waitFor()
    t.same(await harm(), [], 'an answer that is refused')
    isCut = true
    for (const link of links) void link.close()
    await page.getByText('Live', { exact: true }).first().waitFor({ state: 'hidden' })
    await allow(page)
    const takeBack = page.getByText('Withdraw').first()
    await takeBack.waitFor()
    t.same(await harm(), [], 'an answer')
    await goTo(page, '/')
    await takeBack.waitFor()
    t.match(await page.locator('.leaving').innerText(), nameOf('short.command'))
    t.same(await harm(), [], 'the list of all')
  })

  await t.test('with the policy nothing is even attempted', async t => {
    const page = await openPage(t)
    const { harm } = await watchForHarm(page, new URL(server.url).origin)
    t.ok(await restore(page, server.url, world.secret), 'there is a policy')
    await goTo(page, `/s/${id}`)
    await page.locator('.dock').waitFor()
    await page.getByRole('log').getByText('evil.example').first().waitFor()
    t.same(await harm(), [])
  })
})
