import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { furnishComputer } from '../interop/computer.ts'
import { cacheDirectory, findHappy, happy, happyVersion } from '../interop/happy.ts'
import { Steps } from '../interop/steps.ts'
import { type Device, openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { pressAwake, say } from './kit/deciding.ts'

const entry = findHappy(cacheDirectory())
const skip = !entry && `happy@${happyVersion} is not in ${cacheDirectory()}; node test/interop/happy-cli.ts --install fetches it`
const shots = process.env['SHOTS']

t.test('the published happy CLI is paired with and driven by the app', { skip, timeout: 240_000 }, async t => {
  if (!entry) return
  const devices = await openDevices(t)
  // Outside of this repository, because it looks for one.
  const folder = mkdtempSync(join(tmpdir(), 'afield-happy-'))
  mkdirSync(join(folder, 'project'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const server = await startServerProcess(t, { data: join(folder, 'data'), args: ['--idle-after-ms', '2000'] })
  const steps = new Steps(line => t.comment(line))
  const teardown = (end: () => unknown) => t.teardown(end)
  const computer = furnishComputer({ entry, folder, steps, form: 2, teardown }, server.url)
  const phone = await devices.open(t, server.url)
  phone.page.setDefaultTimeout(20_000)
  await phone.createAccount()
  const project = join(folder, 'project')

  await t.test('the link that it prints is pasted, and it has no check code', async t => {
    const login = happy(computer, ['auth', 'login'], { terminal: true })
    await login.prints(/How would you like to authenticate/)
    login.child.stdin?.write('1')
    const [link] = await login.prints(/happy:\/\/terminal\?[\w-]{43}/)
    await phone.visit('/scan')
    await phone.write('Paste a link', link)
    await phone.press('Go on')
    await phone.see('This program shows no check code.')
    await shoot(phone, 'pair')
    await phone.hold('Hold to link', 'Linked')
    await login.prints(/Authentication successful/)
    t.equal(await login.ended, 0)
  })

  await t.test('its daemon makes the computer a machine', async () => {
    happy(computer, ['daemon', 'start-sync'])
    await phone.visit('/machines')
    await phone.see('Online')
    await phone.page.locator('a[href^="/machines/"]').last().click()
    await phone.see(happyVersion)
    await phone.page.getByText('Start a session here').or(phone.page.getByText('Start a session')).first().waitFor()
    await shoot(phone, 'machine')
  })

  await t.test('a session appears, takes a prompt and answers', async () => {
    happy(computer, ['acp', 'scripted'], { cwd: project })
    await phone.visit('/')
    await phone.page.locator('a[href^="/s/"]').first().click()
    await say(phone, 'SCRIPT: think hm; text Hello from the agent.')
    await conversation(phone, 'Hello from the agent.').waitFor()
    await shoot(phone, 'talk')
  })

  await t.test('what it asks for is allowed, and then denied', async t => {
    const write = (name: string) => `SCRIPT: tool write {"path":"${name}","content":"written"} ;; text ${name} is settled.`
    await say(phone, write('yes.txt'))
    await phone.page.locator('.dock').waitFor()
    await shoot(phone, 'asked')
    await pressAwake(phone, /^Allow once|^Allow/)
    await conversation(phone, 'yes.txt is settled.').waitFor()
    t.equal(readFileSync(join(project, 'yes.txt'), 'utf8'), 'written')
    await shoot(phone, 'allowed')
    await say(phone, write('no.txt'))
    await phone.page.locator('.dock').waitFor()
    await pressAwake(phone, /^Deny/)
    await shoot(phone, 'denying')
    await pressAwake(phone, /^Deny, go on/)
    await conversation(phone, 'no.txt is settled.').waitFor()
    t.notOk(existsSync(join(project, 'no.txt')))
    await shoot(phone, 'denied')
  })

  await t.test('its folder is looked at', async () => {
    const { pathname } = new URL(phone.page.url())
    await phone.visit(`${pathname}/files`)
    await phone.see('yes.txt')
    await phone.visit(`${pathname}/changes`)
    await phone.see('No git here')
    await shoot(phone, 'changes')
    await phone.visit(pathname)
    await conversation(phone, 'no.txt is settled.').waitFor()
  })

  await t.test('what it does is stopped, and the session goes to the archive', async () => {
    await say(phone, 'SCRIPT: slow 20000 a b c d e f g h i j k l m n o p q r s t u v w x y z')
    await phone.press('Stop the agent')
    await shoot(phone, 'stopping')
    // This version of the CLI ends when it is stopped in the middle.
    await phone.see(/Ended|ended|Stopped|stopped/)
    await shoot(phone, 'stopped')
    await phone.press('Session menu')
    await phone.page.getByRole('menuitem', { name: 'Archive', exact: true }).click()
    await phone.visit('/archive')
    await phone.see('project')
    await shoot(phone, 'archive')
  })

  await t.test('its machine offers to begin another one', async () => {
    await phone.visit('/machines')
    await phone.page.locator('main a[href^="/machines/"]').first().click()
    await phone.press('Start a session here')
    await phone.page.getByRole('button', { name: /^Start on/ }).waitFor()
    await shoot(phone, 'new')
  })
})

function conversation({ page }: Device, text: string) {
  return page.getByRole('log').getByText(text, { exact: true })
}

async function shoot(phone: Device, name: string): Promise<void> {
  if (shots !== undefined) await phone.screenshot(join(shots, `happy-${name}.png`))
}
