import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { formatBackupKey, readBackupKey } from '../../lib/crypto/index.ts'
import { readQuestions } from '../../lib/protocol/sealed/decisions/ask-user-question.ts'
import type { PermissionRequest } from '../../lib/protocol/sealed/session.ts'
import { launchChromium } from '../kit/chromium.ts'
import { type ServerProcess, startServerProcess } from '../kit/server.ts'
import { fakeClaude } from '../wrapper/kit/claude.ts'
import { type Phone, type PhoneSession, startPhone } from '../wrapper/kit/phone.ts'
import { openTestHome } from '../wrapper/kit/world.ts'
import { runWrapper, type WrapperProcess } from '../wrapper/kit/wrapper.ts'
import { control, field, names, pastePicture, press, pressForSure, say, see } from './happy-app-screen.ts'
import type { Stage } from './steps.ts'

interface Walk extends Pick<Stage, 'folder' | 'steps' | 'teardown'> {
  /** Where the app is served, an origin other than the server's. */
  app: string
  /** Whether this version of the app sends pictures. */
  hasPictures: boolean
  stepMs?: number
}

/** A walk under way: the server, and the screen of one device. */
interface World extends Walk {
  server: ServerProcess
  browser: Browser
  page: Page
  /** Another device. */
  newPage(): Promise<Page>
  /** A step that fails also when a page threw meanwhile, and then says what the screens show. */
  step<T>(name: string, work: () => Promise<T>): Promise<T>
}

// Two by two, red.
const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg=='

/** From the address of the server to an archived session, as a person who has nothing but Happy's app. */
export async function walkApp(walk: Walk): Promise<void> {
  const world = await openWorld(walk)
  const { page } = world
  await chooseServer(world, page)
  const phone = await makeAccount(world)
  const home = await linkComputer(world, phone)
  runWrapper(world, { home, args: ['demo'] })
  const session = await phone.session()
  await talk(world, session)
  await surviveRestart(world, session)
  const spawned = await startSession(world, phone, home, session)
  const other = await world.newPage()
  await chooseServer(world, other)
  await world.step('the account is restored from its key on another device, with both sessions', async () => {
    await openScreen(world, other, '/restore/manual')
    await field(other).fill(formatBackupKey(phone.secret))
    await press(other, names.restore)
    await other.waitForURL(url => !url.pathname.startsWith('/restore'))
    await openSession(world, other, session)
    await see(other, 'Back again.')
    await openSession(world, other, spawned)
    await see(other, 'The plums are blue.')
  })
  await world.step('a session is archived in the app', async () => {
    await openScreen(world, page, `/session/${session.id}/info`)
    const archived = session.until(({ metadata }) => metadata.lifecycleState === 'archived')
    await pressForSure(page, names.archive, archived)
    await openScreen(world, page, `/session/${session.id}`)
    await see(page, 'Back again.')
  })
}

async function openWorld(walk: Walk): Promise<World> {
  const { folder, steps, teardown, stepMs = 60_000 } = walk
  const server = await steps.step('afield serve listens', () => startServerProcess({ teardown }, { data: join(folder, 'data') }))
  const browser = await launchChromium()
  teardown(() => browser.close())
  const errors: Error[] = []
  const step: World['step'] = async (name, work) => {
    const watched = async () => {
      const result = await work()
      if (errors.length > 0) throw new AggregateError(errors, 'A page threw.')
      return result
    }
    try {
      return await steps.step(name, watched, stepMs)
    } catch (error) {
      for (const context of browser.contexts()) for (const page of context.pages()) steps.note(await whatStands(page))
      for (const thrown of errors) steps.note(thrown.stack ?? thrown.message)
      throw error
    }
  }
  const newPage = async () => {
    // Of the width of a phone: there the app shows one screen at a time.
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'en-US' })
    // That nothing answers while the server is away is no fault.
    context.on('weberror', error => void (/failed to fetch|network/i.test(`${error.error()}`) || errors.push(error.error())))
    return context.newPage()
  }
  return { ...walk, server, browser, newPage, page: await newPage(), step }
}

async function whatStands(page: Page): Promise<string> {
  const text = await page.locator('body').innerText({ timeout: 2_000 })
  return `${page.url().replace(/#.*/, '')} shows:\n${text.replace(/^/gm, '  | ')}`
}

async function openScreen({ app }: Pick<World, 'app'>, page: Page, path: string): Promise<void> {
  await page.goto(`${app}${path}`)
}

async function openSession(world: World, page: Page, session: PhoneSession): Promise<void> {
  await openScreen(world, page, `/session/${session.id}`)
  await field(page).waitFor()
}

async function chooseServer(world: World, page: Page): Promise<void> {
  await world.step('Custom Server URL accepts the address, with a slash at its end', async () => {
    await openScreen(world, page, '/server')
    await field(page).fill(`${world.server.url}/`)
    await press(page, names.save)
    await press(page, names.goOn)
    await control(page, names.goOn).waitFor({ state: 'hidden' })
  })
}

/** Resolves to another device of the account, which is the proof that its key is what the app showed. */
async function makeAccount(world: World): Promise<Phone> {
  const { page, step, server } = world
  await step('an account is made', async () => {
    await openScreen(world, page, '/')
    await press(page, names.createAccount)
    await control(page, names.enterUrl).waitFor()
  })
  return step('the key of the account is shown', async () => {
    await openScreen(world, page, '/settings/account')
    await press(page, names.reveal)
    const shown = await page.getByText(/^([A-Z2-7]{5}-){5,}[A-Z2-7]+$/).textContent()
    const key = readBackupKey(shown ?? '')
    assert.ok(key.ok, 'it can be typed into any app')
    return startPhone(world, server, key.secret)
  })
}

/** In both ways. Resolves to its home. */
async function linkComputer(world: World, phone: Phone): Promise<string> {
  const { page, step } = world
  const home = openTestHome(world)
  const login = () => runWrapper(world, { home, args: ['login', '--happy', '--server', world.server.url] })
  await step('a computer is linked by the pasted address', async () => {
    const linking = login()
    const [link] = await linking.says(/happy:\/\/terminal\?[\w-]{43}/)
    await openScreen(world, page, '/')
    await press(page, names.enterUrl)
    await field(page).fill(link)
    await press(page, names.authenticate)
    assert.equal(await linking.ended, 0, linking.output)
    await phone.machine()
  })
  await step('it is linked again, by the address for browsers', async () => {
    const linking = login()
    const [, path = ''] = await linking.says(/http\S+(\/terminal\/connect#key=[\w-]{43})/)
    await openScreen(world, page, path)
    await press(page, names.accept)
    assert.equal(await linking.ended, 0, linking.output)
  })
  return home
}

async function talk(world: World, session: PhoneSession): Promise<void> {
  const { page, step } = world
  await step('a session that began at the computer opens, and asks for no newer CLI', async () => {
    await openSession(world, page, session)
    assert.equal(await page.getByText('CLI Update Required').count(), 0)
  })
  await step('a message reaches the agent, and its answer the app', async () => {
    await say(page, 'SCRIPT: text The pears are ripe.')
    await see(page, 'The pears are ripe.')
  })
  await step('a permission is given', async () => {
    await say(page, 'SCRIPT: tool write {"path":"a.txt","content":"x"} ;; text Written.')
    await waits(session)
    await press(page, names.allow)
    await see(page, 'Written.')
  })
  await step('a question is a form, and its answer reaches the agent', async () => {
    await say(page, 'SCRIPT: ask https://pears.example')
    await answerFirst(page, await waits(session))
    await see(page, 'Thank you.')
  })
  await step('a form whose answers are words of one’s own is left open', async () => {
    await say(page, 'SCRIPT: ask')
    await answerFirst(page, await waits(session))
    await see(page, 'You did not answer. I continue without it.')
  })
  await step('a second tab shows the same, and what is said in one is in the other', async () => {
    const tab = await page.context().newPage()
    await openSession(world, tab, session)
    await see(tab, 'Written.')
    await say(tab, 'SCRIPT: text From the other tab.')
    await see(page, 'From the other tab.')
    await tab.close()
  })
}

async function surviveRestart({ page, step, server, folder, teardown }: World, session: PhoneSession): Promise<void> {
  await step('the server is killed and comes back, and so does the app', async () => {
    await server.kill()
    await startServerProcess({ teardown }, { data: join(folder, 'data'), port: Number(new URL(server.url).port) })
    await say(page, 'SCRIPT: text Back again.')
    await see(page, 'Back again.')
    await session.until(({ messages }) => JSON.stringify(messages).includes('"Back again."'))
  })
}

/** Through the helper of the computer. A scripted agent is its Claude Code: the app sends pictures only to sessions of that. */
async function startSession(world: World, phone: Phone, home: string, but: PhoneSession): Promise<PhoneSession> {
  const { page, step, steps, hasPictures } = world
  const spawned = await step('a session is started in the app, with its first message', async () => {
    await (await startHelper(world, home)).says(/ live\n/)
    await openScreen(world, page, '/new')
    // What is sent before the app knows the computer goes nowhere.
    await page.getByText(hostname()).first().waitFor()
    await say(page, 'SCRIPT: text The plums are blue.')
    await page.waitForURL(/\/session\/[^/]+$/)
    await see(page, 'The plums are blue.')
    return phone.session([but.id])
  })
  const name = 'a pasted picture reaches the agent'
  if (!hasPictures) steps.skip(name, 'this version of the app sends none')
  else
    await step(name, async () => {
      await pastePicture(page, picture)
      await say(page, 'SCRIPT: look')
      await page
        .getByText(/^You sent me an image/)
        .first()
        .waitFor()
    })
  return spawned
}

async function startHelper(world: World, home: string): Promise<WrapperProcess> {
  const person = join(home, '..', 'person')
  const adapter = join(home, 'agents', 'node_modules', '@agentclientprotocol', 'claude-agent-acp')
  for (const folder of [person, adapter]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const demo = pathToFileURL(resolve('lib/wrapper/agents/demo/main.ts')).href
  writeFileSync(join(adapter, 'package.json'), JSON.stringify({ type: 'module', bin: 'index.mjs' }))
  writeFileSync(
    join(adapter, 'index.mjs'),
    `import { runDemoAgent } from ${JSON.stringify(demo)}\nawait runDemoAgent(${JSON.stringify(join(home, 'conversations'))})\n`
  )
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [person] }), { mode: 0o600 })
  const env = { HOME: person, CLAUDE_CODE_EXECUTABLE: fakeClaude, CLAUDE_CONFIG_DIR: join(person, '.claude') }
  return runWrapper(world, { home, args: ['daemon', 'run'], env })
}

async function waits(session: PhoneSession): Promise<PermissionRequest> {
  for (;;) {
    const [request] = Object.values(session.state.requests ?? {})
    if (request) return request
    await session.until(({ state }) => Object.keys(state.requests ?? {}).length > 0)
  }
}

/** Chooses the first option of each question. Several may have the same words, and stand in the order of the questions. */
async function answerFirst(page: Page, request: PermissionRequest): Promise<void> {
  const before: string[] = []
  for (const { question, options } of readQuestions(request.arguments) ?? []) {
    const [first = ''] = options.map(({ label }) => label)
    await page.getByText(question).first().waitFor()
    const same = page.getByText(first, { exact: true }).filter({ visible: true })
    await same.nth(before.filter(label => label === first).length).click()
    before.push(...options.map(({ label }) => label))
  }
  await press(page, names.submit)
}
