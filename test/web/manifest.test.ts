import { readFileSync } from 'node:fs'
import t from 'tap'
import { openChromium } from '../kit/chromium.ts'

t.test('a browser reads the manifest without a warning', async t => {
  const browser = await openChromium(t)
  const page = await browser.newPage()
  const manifest = readFileSync('web/public/manifest.webmanifest', 'utf8')
  await page.route('https://app.example/**', route => {
    const isManifest = route.request().url().endsWith('.webmanifest')
    const [contentType, body] = isManifest
      ? ['application/manifest+json', manifest]
      : ['text/html', '<!doctype html><link rel="manifest" href="/manifest.webmanifest">']
    return route.fulfill({ contentType, body })
  })
  await page.goto('https://app.example/')
  const devtools = await page.context().newCDPSession(page)
  const { data, errors } = await devtools.send('Page.getAppManifest')
  t.match(data, '"share_target"', 'it was read')
  t.same(errors, [])
})
