import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { serveSmallApp } from '../small-app.ts'

const page = `<!doctype html><meta charset="utf-8"><title>Afield</title><script>window.ranInline = true</script><script src="/main.js"></script>`
serveSmallApp({ 'web/index.html': page, 'web/main.js': 'window.ranOwn = true' })

const evil = {
  html: '<!doctype html><script>document.title = "ran"; localStorage.setItem("ran", "yes")</script>',
  svg: '<svg xmlns="http://www.w3.org/2000/svg"><script>localStorage.setItem("ran", "yes")</script></svg>',
  js: 'localStorage.setItem("ran", "yes")'
}

t.test('an uploaded file runs nothing on the origin of the app, in a real browser [H7]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const browser = await openChromium(t)
  const authorization = `Bearer ${ada.token}`

  for (const [kind, text] of Object.entries(evil)) {
    const { body } = await ada.call('POST', `/v1/sessions/${session}/attachments/request-upload`, { body: { size: text.length } })
    await fetch(body.uploadUrl, { method: 'PUT', headers: { authorization }, body: text })
    for (const isControl of [false, true]) {
      const context = await browser.newContext({ acceptDownloads: false })
      const tab = await context.newPage()
      await tab.goto(`${server.url}/`)
      // The browser is given the token, as if a page could make it send one; the control takes the headers away as well.
      await context.route('**/attachments/*.enc', async route => {
        const response = await fetch(route.request().url(), { headers: { authorization } })
        const type = { html: 'text/html', svg: 'image/svg+xml', js: 'text/javascript' }[kind] ?? ''
        const headers = isControl ? { 'content-type': type } : Object.fromEntries(response.headers)
        await route.fulfill({ status: response.status, headers, body: Buffer.from(await response.arrayBuffer()) })
      })
      if (kind === 'js') await runAsScript(tab, body.uploadUrl)
      else await tab.goto(body.uploadUrl).catch(() => {})
      await tab.goto(`${server.url}/`)
      t.equal(
        await tab.evaluate('localStorage.getItem("ran")'),
        isControl ? 'yes' : null,
        `${kind}${isControl ? ' without the headers' : ''}`
      )
      await context.close()
    }
  }
})

type Tab = Awaited<ReturnType<Awaited<ReturnType<typeof openChromium>>['newPage']>>

/** As a page of ours would that somebody talked into it. */
async function runAsScript(tab: Tab, url: string): Promise<void> {
  await tab.evaluate(`new Promise(done => {
    const policy = trustedTypes.createPolicy('test', { createScriptURL: url => url })
    const script = Object.assign(document.createElement('script'), { onload: done, onerror: done })
    script.src = policy.createScriptURL(${JSON.stringify(url)})
    document.head.append(script)
  })`)
}

t.test('a real browser enforces the app’s policy: nothing inline, nothing from elsewhere, no frame around it [H6]', async t => {
  const server = await startServer(t)
  const elsewhere = createServer((_, response) => {
    response.setHeader('access-control-allow-origin', '*').setHeader('content-type', 'text/html')
    response.end(`<iframe src="${server.url}/" onload="document.title = 'loaded'"></iframe>`)
  }).listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  t.teardown(() => elsewhere.close())
  const foreign = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`
  const tab = await (await openChromium(t)).newPage()

  await tab.goto(`${server.url}/`)
  t.equal(await tab.evaluate('window.ranOwn'), true, 'its own script runs')
  t.equal(await tab.evaluate('window.ranInline'), undefined)
  t.equal(await tab.evaluate(`fetch('/health').then(() => 'went', () => 'refused')`), 'went')
  t.equal(await tab.evaluate(`fetch(${JSON.stringify(foreign)}).then(() => 'went', () => 'refused')`), 'refused')
  const eventually = `new Promise(done => { const image = new Image(); image.onload = () => done('went'); image.onerror = () => done('refused'); image.src = ${JSON.stringify(foreign)} })`
  t.equal(await tab.evaluate(eventually), 'refused')
  t.match(
    await tab.evaluate(`(() => { try { document.body.innerHTML = '<b>x'; return 'set' } catch (error) { return error.name } })()`),
    'TypeError'
  )

  await tab.goto(foreign)
  const [, frame] = tab.frames()
  t.notOk(await frame?.evaluate('window.ranOwn').catch(() => false), 'nobody frames it')
  t.not(frame?.url(), `${server.url}/`)
})
