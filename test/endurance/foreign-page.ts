import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { launchChromium } from '../kit/chromium.ts'
import { signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const mostOfPage = 8
const calmMs = 1_000

/** What the page does with the address of the server: opens WebSockets one after the other, and counts those that stay. */
const script = `
  window.flood = async (url, count) => {
    const open = window.open ??= new Set()
    let opened = 0
    for (let number = 0; number < count; number += 1) {
      await new Promise(resolve => {
        const web = new WebSocket(url)
        web.onopen = () => { opened += 1; open.add(web) }
        web.onmessage = resolve
        web.onclose = () => { open.delete(web); resolve() }
      })
    }
    return opened
  }
  window.stillOpen = () => window.open.size
  window.open = new Set()`

/**
 * A page of another site in a real Chromium, opened by somebody at the computer where the server and a wrapper run, takes
 * what places it can get. The wrapper comes in at once. Where --cors-origin names a site, no other page gets a place.
 */
export async function foreignPage(t: Keeper, { data, sockets }: { data: string; sockets: number }): Promise<Outcome> {
  const site = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end(`<!doctype html><script>${script}</script>`)
  )
  t.teardown(() => site.close())
  await once(site.listen(0, '127.0.0.1'), 'listening')
  const foreign = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
  const browser = await launchChromium()
  t.teardown(() => browser.close())
  const tab = await browser.newPage()
  await tab.goto(foreign)
  const flood = (url: string, count: number) =>
    tab.evaluate(`flood('${url.replace('http', 'ws')}/v1/updates/?EIO=4&transport=websocket', ${count})`) as Promise<number>

  const server = await startServerProcess(t, { data: `${data}/open`, limits: 'default' })
  const ada = await signUp(t, server)
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))
  const { now: before } = memoryOf(server.child.pid)
  const complaints: string[] = []
  let opened = 0
  const attacked = await bystander.waits(async () => {
    opened = await flood(server.url, sockets)
    await ada
      .connect({ clientType: 'machine-scoped', machineId: 'own' })
      .catch(error => complaints.push(`The wrapper was not let in: ${error.message}`))
    await ada.connect({}, server, ['polling']).catch(error => complaints.push(`Nor by polling: ${error.message}`))
  })
  const grown = memoryOf(server.child.pid).most - before
  const kept = (await tab.evaluate('stillOpen()')) as number
  if (kept > mostOfPage) complaints.push(`The page holds ${kept} places.`)
  if (grown >= mostMemory) complaints.push(`The server grew by ${Math.round(grown / mib)} MiB.`)

  const narrow = await startServerProcess(t, {
    data: `${data}/narrow`,
    limits: 'default',
    args: ['--cors-origin', 'https://app.example.net']
  })
  const letIn = await flood(narrow.url, mostOfPage)
  if (letIn > 0) complaints.push(`A page that may not call opened ${letIn} sockets.`)
  const bob = await signUp(t, narrow)
  await bob.connect().catch(error => complaints.push(`A program without an origin was not let in: ${error.message}`))
  await tab.goto(`${narrow.url}/health`)
  await tab.evaluate(script)
  const own = await flood(narrow.url, 1)
  if (own !== 1) complaints.push('A page of the server itself was not let in.')
  return {
    told: `a page opened ${opened} sockets and holds ${kept}; with --cors-origin ${letIn}; the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`,
    complaints
  }
}
