import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { launchChromium } from '../kit/chromium.ts'
import { startServerProcess } from '../kit/server.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import type { Stage } from './steps.ts'

interface Walk extends Pick<Stage, 'folder' | 'steps' | 'teardown'> {
  /** Where the app is served, an origin other than the server's. */
  app: string
}

/** What the app calls things, in English. */
const names = {
  save: /^save$/i,
  goOn: /^continue$/i,
  restore: /^restore/i,
  send: /send/i,
  allow: /^(yes|allow)$/i,
  submit: /^submit/i
}

const stepMs = 60_000

/** A session of the demo agent, from the address of the server to the end, as a person with Happy's app has it. */
export async function walkApp({ app, folder, steps, teardown }: Walk): Promise<void> {
  const serve = (port?: number) => startServerProcess({ teardown }, { data: join(folder, 'data'), ...(port !== undefined && { port }) })
  const server = await steps.step('afield serve listens', () => serve())
  const { phone, home } = await linkedComputer({ teardown }, server)
  runWrapper({ teardown }, { home, args: ['demo'] })
  const session = await phone.session()
  const browser = await launchChromium()
  teardown(() => browser.close())
  const context = await browser.newContext()
  const errors: unknown[] = []
  context.on('weberror', error => errors.push(error.error()))
  const page = await context.newPage()
  const step = (name: string, work: () => Promise<unknown>) =>
    steps.step(
      name,
      async () => {
        await work()
        assert.deepEqual(errors, [], 'the page threw')
      },
      stepMs
    )

  await step('Custom Server URL accepts the address, with a slash at its end', async () => {
    await page.goto(`${app}/server`)
    await page.getByRole('textbox').first().fill(`${server.url}/`)
    await press(page, names.save)
    await press(page, names.goOn)
  })
  await step('the account is restored from its key', async () => {
    await page.goto(`${app}/restore/manual`)
    await page.getByRole('textbox').first().fill(formatBackupKey(phone.secret))
    await press(page, names.restore)
    await page.waitForURL(url => !url.pathname.startsWith('/restore'))
  })
  await step('the session opens, and asks for no newer CLI', async () => {
    await page.goto(`${app}/session/${session.id}`)
    await page.getByRole('textbox').last().waitFor()
    assert.equal(await page.getByText('CLI Update Required').count(), 0)
  })
  await step('a message reaches the agent, and its answer the app', async () => {
    await say(page, 'SCRIPT: text The pears are ripe.')
    await page.getByText('The pears are ripe.').last().waitFor()
  })
  await step('a permission is given', async () => {
    await say(page, 'SCRIPT: tool write {"path":"a.txt","content":"x"} ;; text Written.')
    await waits(session)
    await press(page, names.allow)
    await page.getByText('Written.').last().waitFor()
  })
  await step('a question is a form, and the screen survives it', async () => {
    await say(page, 'SCRIPT: ask')
    const form = await waits(session)
    for (const { question, options } of form?.form?.questions ?? []) {
      await page.getByText(question).first().waitFor()
      await page
        .getByText(options[0]?.label ?? 'No answer')
        .last()
        .click()
    }
    await press(page, names.submit)
    await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 0)
  })
  await step('a second tab shows the same', async () => {
    const tab = await context.newPage()
    await tab.goto(`${app}/session/${session.id}`)
    await tab.getByText('Written.').last().waitFor()
    await tab.close()
  })
  await step('the server is killed and comes back, and so does the app', async () => {
    await server.kill()
    await serve(Number(new URL(server.url).port))
    await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 0)
    await say(page, 'SCRIPT: text Back again.')
    await page.getByText('Back again.').last().waitFor()
  })
  await step('an ended session is seen as that', async () => {
    await session.call('killSession', {})
    await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
    await page.reload()
    await page.getByText('Back again.').last().waitFor()
  })
}

async function press(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('button', { name }).or(page.getByText(name)).filter({ visible: true }).last().click()
}

async function say(page: Page, text: string): Promise<void> {
  const box = page.getByRole('textbox').last()
  await box.fill(text)
  await box.press('Enter')
  // Where Enter begins a new line.
  if ((await box.inputValue()).trim() !== '') await press(page, names.send)
}

async function waits(session: PhoneSession) {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  return Object.values(session.state.requests ?? {})[0]
}
