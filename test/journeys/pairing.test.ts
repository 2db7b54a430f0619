import { mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Device, type DeviceLook, openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { readCode } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'

const devices = await openDevices(t)
const shots = process.env['SHOTS']

t.test('the phone says who asks and what they get, and lets in the computer whose check code was typed [A7]', async t => {
  const { server, phone, ask, daemon } = await personAndServer(t)
  const { login, link, checkCode } = await ask()
  await phone.page.goto(link)
  await phone.see('This gives full control of your agents.')
  await phone.see(/^\d+\.\d+\.\d+/)
  t.notMatch(phone.page.url(), /#/, 'the secret of the link left the address')
  await phone.hold('Hold to link', 'Type all four digits first.')
  await phone.write('Check code', checkCode)
  await shoot(phone, 'ready')
  const [, left = ''] = /^Valid for (\d min)/.exec(await phone.page.locator('.bar-t').innerText()) ?? []
  t.equal(left, '4 min', 'and how long the code is good')
  const name = hostname()
  await phone.see(`Link ${name} to your account?`)
  const facts = await phone.page.locator('.facts').innerText()
  const isRoot = process.getuid?.() === 0
  t.match(facts, new RegExp(`Runs as\\s+${userInfo().username}${isRoot ? ', can change everything' : ''}`))
  t.match(facts, /System\s+\S/)
  t.match(facts, /Network\s+The computer the server runs on/, 'and not a piece of its address')
  await phone.hold('Hold to link', `${name} is linked`)
  t.equal(await login.ended, 0, login.output)
  t.equal(await phone.page.getByRole('link', { name: 'Start a session there' }).count(), 0, 'nothing runs there that could')
  await daemon().says(/ live\n/)
  await phone.press('Start a session there')
  await phone.see(`Start on ${name}`)

  await phone.visit('/')
  await phone.page.goto(link)
  await phone.see(`${name} is already linked`)
  const other = await devices.open(t, server.url)
  await other.createAccount()
  await other.page.goto(link)
  await other.see('This code belongs to another account')
})

t.test('a request that expires unanswered after five minutes closes on the screen', async t => {
  const { phone, ask } = await personAndServer(t)
  const { link } = await ask()
  // Otherwise the server's time would correct the clock.
  await phone.context.route('**/health', route => route.abort())
  await phone.page.clock.install()
  await phone.page.goto(link)
  await phone.see('This gives full control of your agents.')
  await phone.page.clock.fastForward(299_000)
  await phone.see('This request has expired')
  await phone.see('Scan a code')
})

t.test('three wrong check codes end the request on both sides [A8]', async t => {
  const { phone, ask } = await personAndServer(t, { colorScheme: 'dark' })
  const { login, link, checkCode } = await ask()
  await phone.page.goto(link)
  for (const by of [1, 2, 3]) {
    await phone.write('Check code', String((Number(checkCode) + by) % 10_000).padStart(4, '0'))
    await phone.hold('Hold to link', by < 3 ? 'These digits do not match' : 'The request was rejected')
    await shoot(phone, `wrong-${by}`)
  }
  t.equal(await login.ended, 1)
  await phone.visit('/')
  await phone.page.goto(link)
  await phone.see('This request has expired')
})

t.test("refusing on the desktop ends the computer's wait at once", async t => {
  const { phone: desk, ask } = await personAndServer(t, { width: 1280, height: 800 })
  const { login, link } = await ask()
  await desk.visit('/scan')
  await desk.write('Paste a link', 'https://example.net/start')
  await desk.press('Continue')
  await desk.see('This address at example.net contains no request.')
  // Wrapped as in a terminal, and with another host name of the same server.
  const otherName = link.replace('127.0.0.1', 'localhost')
  await desk.write('Paste a link', `  ${otherName.slice(0, 60)}  ${otherName.slice(60)} `)
  await desk.press('Continue')
  await desk.see('Check code')
  await shoot(desk, 'desk')
  await desk.press('Reject')
  t.equal(await login.ended, 1)
  t.match(login.output, /it was rejected/)
})

t.test('a request of an existing program still works, and says that it has no check code', async t => {
  const { phone, loginWith } = await personAndServer(t, { width: 1280, height: 800, colorScheme: 'dark' })
  const login = loginWith('--happy')
  const [link] = await login.says(/happy:\/\/terminal\S+/)
  await login.says(/Waiting/)
  await phone.visit('/scan')
  await phone.write('Paste a link', link)
  await phone.press('Continue')
  await phone.see('This program shows no check code.')
  t.equal(await phone.page.getByLabel('Check code').count(), 0)
  await shoot(phone, 'first-kind')
  await phone.hold('Hold to link', 'Linked')
  t.equal(await login.ended, 0)
})

async function personAndServer(t: Test, look: DeviceLook = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'afield-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const server = await startServerProcess(t, { data: join(folder, 'data') })
  const phone = await devices.open(t, server.url, look)
  await phone.createAccount()
  const loginWith = (...more: string[]) => runWrapper(t, { home: join(folder, 'home'), args: ['login', '--server', server.url, ...more] })
  const ask = async () => {
    const login = loginWith()
    return { login, ...(await readCode(login)) }
  }
  const daemon = () => runWrapper(t, { home: join(folder, 'home'), args: ['daemon', 'run'] })
  return { server, phone, ask, loginWith, daemon }
}

async function shoot(device: Device, name: string): Promise<void> {
  if (shots !== undefined) await device.screenshot(join(shots, `pair-${name}.png`))
}
