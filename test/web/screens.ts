import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchChromium } from '../kit/chromium.ts'
import { openStory, storyPaths } from './kit/open-story.ts'
import { serveStories } from './stories/serve.ts'

// Renders every screen in every state, on a phone, a tablet and a desktop (with --size side on a phone in landscape), light and dark, under the app's
// content security policy, with an index page of the pictures.
//   node build.mjs screens [--out folder] [--size phone,desktop] [--theme dark] [--language zh] [name …]
const root = join(import.meta.dirname, '../..')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: join(root, 'build/screens') },
    size: { type: 'string', default: 'phone,tablet,desktop' },
    theme: { type: 'string', default: 'light,dark' },
    language: { type: 'string', default: 'en' }
  }
})

const sizes: Readonly<Record<string, BrowserContextOptions>> = {
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
  side: { viewport: { width: 844, height: 340 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
  tablet: { viewport: { width: 820, height: 1180 } },
  desktop: { viewport: { width: 1440, height: 900 } }
}
// Taller than a screen, to show all of it at once.
const tall = /=(steps|markdown|notifications|notifications-missing|ntfy)$/

mkdirSync(values.out, { recursive: true })
const { origin, close } = await serveStories()
const browser = await launchChromium({ isWhole: true })
const drawn: string[] = []
let problems = 0
for (const size of values.size.split(',')) await drawAll(browser, size)
await browser.close()
close()
writeFileSync(join(values.out, 'index.html'), contactSheet())
console.log(`${drawn.length} pictures in ${values.out}, ${problems} problems`)
process.exitCode = problems === 0 ? 0 : 1

async function drawAll(browser: Browser, size: string): Promise<void> {
  const options = sizes[size]
  if (options === undefined) throw new Error(`Which size? One of ${Object.keys(sizes).join(', ')}.`)
  const context = await browser.newContext(options)
  const page = await context.newPage()
  watch(page)
  const paths = await storyPaths(browser, origin)
  for (const path of paths.filter(each => positionals.length === 0 || positionals.includes(nameOf(each)))) {
    for (const theme of values.theme.split(',')) {
      await openStory(page, origin, `${path}&framed&language=${values.language}`, theme).catch(noteProblem)
      if (tall.test(path) && options.viewport) await page.setViewportSize({ ...options.viewport, height: 2600 })
      const file = join(values.out, `${nameOf(path)}-${size}-${theme}.png`)
      await page.screenshot({ path: file, animations: 'disabled' })
      if (options.viewport) await page.setViewportSize(options.viewport)
      drawn.push(file)
    }
  }
  await context.close()
}

function watch(page: Page): void {
  const note = (text: string): void => noteProblem(new Error(`${page.url()}: ${text}`))
  page.on('pageerror', error => note(error.message))
  page.on('console', message => {
    if (message.type() === 'error' && !message.text().includes('favicon')) note(message.text())
  })
}

function noteProblem({ message }: Error): void {
  problems++
  console.error(message)
}

function nameOf(path: string): string {
  return path.slice(path.indexOf('=') + 1)
}

function contactSheet(): string {
  const figures = drawn
    .map(file => basename(file))
    .sort()
    .map(file => `<figure><a href="${file}"><img src="${file}" loading="lazy" alt=""></a><figcaption>${file}</figcaption></figure>`)
  const look =
    'body{display:flex;flex-wrap:wrap;gap:24px;font:13px system-ui;background:#888}figure{margin:0}img{height:420px;display:block}'
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Screens of Afield</title><style>${look}</style>${figures.join('')}</html>\n`
}
