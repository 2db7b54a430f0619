import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { openChromium } from '../kit/chromium.ts'
import { startServer } from '../kit/server.ts'
import { hostileWorld } from './kit/hostile-world.ts'
import { withoutPolicy } from './kit/no-policy.ts'
import { fieldsOn, openEveryPlace } from './kit/places.ts'
import { watchForHarm } from './kit/watch-for-harm.ts'
import { evilWords, mutations, payloads } from './kit/xss.ts'

// For longer and another way: AFIELD_XSS_SECONDS=600 AFIELD_XSS_SEED=2 TAP_TIMEOUT=700 node test/web/xss.test.ts
const seconds = Number(process.env['AFIELD_XSS_SECONDS'] ?? 3)
const seed = Number(process.env['AFIELD_XSS_SEED'] ?? process.env['AFIELD_SEED'] ?? 1)

// Never on a screen: a refused answer and a path of a copy are said in the app's own words.
const unseen = new Set(['answer.refusal', 'copy.path'])

const browser = openChromium(t)

async function openPage(t: Test): Promise<Page> {
  const look = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', serviceWorkers: 'block' } as const
  const context = await (await browser).newContext(look)
  t.teardown(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  return page
}

/** Opens the account; tells whether the app came with its policy. */
async function restore(page: Page, url: string, secret: Uint8Array): Promise<boolean> {
  const answer = await page.goto(`${url}/restore`)
  await page.getByLabel('Account key').first().fill(formatBackupKey(secret))
  await page.getByRole('button', { name: 'Restore' }).click()
  await page.getByText('Live').first().waitFor()
  return answer?.headers()['content-security-policy'] !== undefined
}

t.test(`no text of an agent, a folder or a computer becomes more than text, from seed ${seed} [H5] [H6]`, async t => {
  const server = await startServer(t, { idleAfterMs: 600_000 })
  const bare = await withoutPolicy(t, server.url)
  const { evil, fields } = evilWords(seed)
  const world = await hostileWorld(t, server, evil)
  const { id } = await world.session(evil)
  const calm = await world.session(evil, { isAsking: false })

  await t.test('in every field, although no policy would stop it', async t => {
    const page = await openPage(t)
    const { harm } = await watchForHarm(page, bare)
    t.notOk(await restore(page, bare, world.secret), 'there is no policy')
    t.same(await harm(), [])
    const seen = new Set<string>()
    await openEveryPlace(page, { url: bare, asking: id, calm: calm.id, machine: world.machine, evil }, async place => {
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

  await t.test('each by itself and what grows out of them, as what an agent says', async t => {
    const page = await openPage(t)
    const { harm } = await watchForHarm(page, bare)
    t.notOk(await restore(page, bare, world.secret), 'there is no policy')
    const { id, say } = await world.session()
    await page.goto(`${bare}/s/${id}`)
    const log = page.getByRole('log')
    await log.waitFor()
    await say([...payloads, 'That was all.'])
    await log.getByText('That was all.', { exact: true }).waitFor()
    t.same(await harm(), [])
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

  await t.test('with the policy nothing even tries', async t => {
    const page = await openPage(t)
    const { harm } = await watchForHarm(page, new URL(server.url).origin)
    t.ok(await restore(page, server.url, world.secret), 'there is a policy')
    await page.goto(`${server.url}/s/${id}`)
    await page.locator('.dock').waitFor()
    await page.getByRole('log').getByText('evil.example').first().waitFor()
    t.same(await harm(), [])
  })
})
