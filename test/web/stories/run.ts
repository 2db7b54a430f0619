import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { serveStories } from './serve.ts'

// Draws every story of the session screen, on a phone and on a desktop, light and dark, into build/shots, under the policy of the app.
//   node test/web/stories/run.ts [name …]
const root = join(import.meta.dirname, '../../..')
const shots = join(root, 'build/shots')
mkdirSync(shots, { recursive: true })
const { origin, close } = await serveStories(join(root, 'build/stories'))

const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync'
  ]
})
const sizes = {
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
  desk: { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 }
}
// Longer than a screen, to see all of a transcript at once.
const tall = ['steps', 'markdown']
const asked = process.argv.slice(2)
let problems = 0

for (const [size, options] of Object.entries(sizes)) {
  const context = await browser.newContext(options)
  const tab = await context.newPage()
  watch(tab)
  await tab.goto(`${origin}/`)
  const names = (await tab.locator('main').innerText()).trim().split(/\s+/)
  for (const name of names.filter(each => asked.length === 0 || asked.includes(each))) {
    for (const theme of ['light', 'dark']) {
      await tab.goto(`${origin}/?story=${name}&theme=${theme}`)
      await tab.waitForTimeout(name === 'opening' ? 500 : 450)
      if (tall.includes(name)) await tab.setViewportSize({ ...options.viewport, height: 2600 })
      await tab.screenshot({ path: join(shots, `${size}-${name}-${theme}.png`), animations: 'disabled' })
      await tab.setViewportSize(options.viewport)
    }
  }
  await context.close()
}
await browser.close()
close()
console.log(`${shots}, ${problems} problems`)
process.exitCode = problems === 0 ? 0 : 1

function watch(tab: Page): void {
  const note = (text: string): void => {
    problems++
    console.error(`${tab.url()}: ${text}`)
  }
  tab.on('pageerror', error => note(error.message))
  tab.on('console', message => {
    if (message.type() === 'error' && !message.text().includes('favicon')) note(message.text())
  })
}
