import { mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'
import { chromium, type Page } from 'playwright-core'

// Draws every story of the session screen, on a phone and on a desktop, light and dark, into build/shots, under the policy of the app.
//   node test/web/stories/run.ts [name …]
const root = join(import.meta.dirname, '../../..')
const out = join(root, 'build/stories')
const shots = join(root, 'build/shots')
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

await build({
  absWorkingDir: root,
  entryPoints: { page: 'test/web/stories/page.tsx', style: 'web/style/index.css' },
  outdir: out,
  bundle: true,
  format: 'esm',
  platform: 'browser',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.svg': 'file' },
  logLevel: 'warning'
})
mkdirSync(shots, { recursive: true })

const page =
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Stories</title><link rel="stylesheet" href="/style.css"><body></body><script type="module" src="/page.js"></script></html>'
const server = createServer((request, response) => {
  const path = new URL(request.url ?? '/', 'http://stories').pathname
  const type = path.endsWith('.js') ? 'text/javascript' : path.endsWith('.css') ? 'text/css' : 'text/html'
  response.writeHead(200, { 'content-type': type, 'content-security-policy': policy })
  response.end(path.endsWith('.js') || path.endsWith('.css') ? readFileSync(join(out, path)) : page)
})
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const address = server.address()
if (address === null || typeof address === 'string') throw new Error('no address')
const origin = `http://127.0.0.1:${address.port}`

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
server.close()
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
