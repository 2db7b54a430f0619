import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { type Device, openDevices } from '../kit/browser.ts'
import { bringAxe, seriousOn } from '../web/kit/axe.ts'
import { worldWithDaemon } from './kit/daemon-world.ts'

const devices = await openDevices(t)
const looks = [
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 1280, height: 800, colorScheme: 'dark' }
] as const
const secondTheme = { light: 'dark', dark: 'light' } as const

const withoutAccount = ['/', '/welcome', '/start', '/restore', '/link', '/pair']
const settings = ['devices', 'people', 'access', 'appearance', 'language', 'account-key', 'lock', 'storage', 'rules', 'rules/new', 'about']

t.test('axe finds nothing serious on any route, opened cold, on a phone and a desktop, light and dark [app-design §12]', async t => {
  const { device: first, code, session, witness, url } = await worldWithDaemon(t, devices, 'The garden is watered.')
  await session.say(`SCRIPT: tool exec ${JSON.stringify({ command: 'echo one' })}`)
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  writeFileSync(join(code, 'notes.txt'), 'Water the garden\n')
  await first.visit('/machines')
  const machine = await first.page.locator('a[href^="/machines/"]').first().getAttribute('href')
  const inSession = ['', '/changes', '/files', '/files/notes.txt', '/log', '/info', '/sub/none']
  const routes = [
    ...['/', '/needs-you', '/new', '/search', '/search?q=garden', '/archive', '/machines', '/scan', '/pair', '/nowhere', '/s/none'],
    ...['/start/key', '/start/check', machine ?? ''],
    ...inSession.map(view => `/s/${session.id}${view}`),
    ...['', ...settings].map(page => `/settings/${page}`)
  ]
  await first.context.close()
  const walk = async (look: (typeof looks)[number]) => {
    const device = await devices.open(t, url, look)
    await bringAxe(device.context)
    for (const path of withoutAccount) await isFine(device, path, look.colorScheme)
    await device.visit('/restore')
    await device.write('Account key', formatBackupKey(witness.secret))
    await device.press('Restore')
    await device.see('Live')
    for (const path of routes) await isFine(device, path, look.colorScheme)
  }
  await Promise.all(looks.map(walk))

  async function isFine(device: Device, path: string, colorScheme: 'light' | 'dark'): Promise<void> {
    await device.visit(path)
    await settled(device)
    const where = `${path}, ${device.page.viewportSize()?.width} px`
    t.same(await seriousOn(device.page), [], `${where}, ${colorScheme}`)
    const structure = await device.page.evaluate(() => ({
      mains: document.querySelectorAll('main').length,
      headings: [...document.querySelectorAll('main h1')].filter(each => each.checkVisibility() && each.closest('[inert]') === null).length,
      title: document.title !== ''
    }))
    t.same(structure, { mains: 1, headings: 1, title: true }, `${where} has one main, and one heading in it`)
    await device.page.emulateMedia({ colorScheme: secondTheme[colorScheme] })
    t.same(await seriousOn(device.page, ['color-contrast']), [], `${where}, ${secondTheme[colorScheme]}`)
    await device.page.emulateMedia({ colorScheme })
  }
})

/** Waits until the screen has its heading and nothing on it is loading. */
async function settled({ page }: Device): Promise<void> {
  await page.locator('main h1').first().waitFor()
  await page.waitForFunction(() => document.querySelector('main [aria-busy="true"]') === null)
}
