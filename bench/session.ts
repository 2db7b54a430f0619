import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { pause } from '../lib/async/pause.ts'
import { openSocket } from '../lib/client/link/socket.ts'
import { sealPartial } from '../lib/client/sealed/messages.ts'
import { formatBackupKey } from '../lib/crypto/index.ts'
import { createServer } from '../lib/index.ts'
import { launchChromium } from '../test/kit/chromium.ts'
import { fillSession } from '../test/kit/long-session.ts'

/** The cost of opening and scrolling a long session in a phone's browser. Bare is a page of plain text. */
const messages = 10_000
const scrollSteps = 120
const rounds = 5
const updatesPerSecond = 2_000
const streamMs = 5_000
const frameMs = 1000 / 60

// Code for the page, whose globals are not typed here.
const watch = `
  globalThis.seen = { times: [], tasks: [0], isOver: false }
  new PerformanceObserver(list => seen.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' })
  requestAnimationFrame(function note(at) {
    seen.times.push(at)
    if (!seen.isOver) requestAnimationFrame(note)
  })
`

const noteLastScreen = `
  new MutationObserver(() => {
    if (globalThis.lastScreenAt === undefined && document.body?.textContent.includes('This was the last.') && document.querySelector('.log-w'))
      globalThis.lastScreenAt = performance.now()
  }).observe(document, { subtree: true, childList: true })
`

await main()

async function main() {
  console.log(`session: ${messages} messages with steps, in Chromium, 390 by 844`)
  const data = mkdtempSync(join(tmpdir(), 'afield-bench-'))
  const server = await createServer({ port: 0, data, signup: 'open', limits: 'off', logLevel: 'silent' })
  const world = await fillSession(server.url, messages)
  const browser = await launchChromium({ isWhole: true })
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const devtools = await context.newCDPSession(page)
  await page.addInitScript(noteLastScreen)

  await page.goto(`${server.url}/licences.txt`)
  const bare = { open: await timed(() => page.goto(`${server.url}/licences.txt`)), ...(await scroll(page, devtools)) }

  await page.goto(`${server.url}/restore`)
  await page.getByLabel('Account key').first().fill(formatBackupKey(world.secret))
  await page.getByRole('button', { name: 'Restore' }).click()
  await page.getByText('Live').first().waitFor()
  const cold = await openByAddress(page, `${server.url}/s/${world.id}`)
  const again = await median(() => openByAddress(page, `${server.url}/s/${world.id}`))
  const within = await median(() => openFromHome(page, server.url))
  const ours = { open: again, ...(await scroll(page, devtools)) }
  show('by its address, the first time', '', `${cold.toFixed(0)} ms`)
  show('by its address, again', `${bare.open.toFixed(0)} ms`, `${ours.open.toFixed(0)} ms`)
  show('from the list', '', `${within.toFixed(0)} ms`)
  showLook('while scrolling up', bare, ours)

  await page.goto(`${server.url}/s/${world.id}`)
  await page.getByText('This was the last.', { exact: true }).waitFor()
  const before = await heapOf(devtools)
  const { look, sent } = await stream(page, server.url, world)
  showLook(`with ${sent} updates a second`, { ...bare, heap: before }, { ...look, heap: await heapOf(devtools) })

  const whole = await timed(async () => {
    await page.goto(`${server.url}/s/${world.id}/m/1`)
    await page.locator('.is-target').waitFor()
  })
  show('to the first message', '', `${whole.toFixed(0)} ms`)
  show('  heap with all of them', '', mb(await heapOf(devtools)))

  await browser.close()
  await server.close()
  rmSync(data, { recursive: true })
}

/** From the start of loading the page until the last message is shown. */
async function openByAddress(page: Page, url: string): Promise<number> {
  await page.goto(url)
  return lastScreenAt(page)
}

async function openFromHome(page: Page, url: string): Promise<number> {
  await page.goto(url)
  // Work of the app after it has become idle is not measured.
  await page.getByText('Live').first().waitFor()
  const row = page.locator('a[href^="/s/"]').first()
  await row.waitFor()
  await page.evaluate(() => {
    Reflect.set(globalThis, 'lastScreenAt', undefined)
    Reflect.get(globalThis, 'addEventListener')('click', () => Reflect.set(globalThis, 'pressedAt', performance.now()), {
      capture: true,
      once: true
    })
  })
  await row.click()
  const at = await lastScreenAt(page)
  return at - (await page.evaluate<number>(() => Reflect.get(globalThis, 'pressedAt')))
}

async function lastScreenAt(page: Page): Promise<number> {
  const at = await page.waitForFunction(() => Reflect.get(globalThis, 'lastScreenAt'))
  return at.evaluate(known => Number(known))
}

async function median(measure: () => Promise<number>): Promise<number> {
  const all: number[] = []
  for (let round = 0; round < rounds; round++) all.push(await measure())
  return all.toSorted((a, b) => a - b)[rounds >> 1] ?? 0
}

/** A growing text, updated more often than any agent does. */
async function stream(page: Page, url: string, world: Awaited<ReturnType<typeof fillSession>>): Promise<{ look: Look; sent: number }> {
  const { id, cipher, turn } = world
  const socket = openSocket({ server: url, token: world.token, scope: { as: 'session', id }, WebSocket })
  while (socket.state.type !== 'live') await pause(10)
  let text = ''
  let sent = 0
  const began = performance.now()
  const look = await watched(page, async () => {
    while (performance.now() - began < streamMs) {
      const due = ((performance.now() - began) / 1000) * updatesPerSecond
      for (; sent < due; sent++) {
        text = sent % 500 === 0 ? '' : `${text}apples `
        socket.send(
          'partial',
          { sid: id, partial: sealPartial(cipher, { turn, block: `b${Math.floor(sent / 500)}`, text, thinking: false }) },
          { volatile: true }
        )
      }
      await pause(4)
    }
  })
  socket.close()
  return { look, sent: Math.round((1000 * sent) / streamMs) }
}

interface Look {
  frames: number
  late: number
  longest: number
}

async function scroll(page: Page, devtools: CDPSession): Promise<Look & { heap: number }> {
  await page.mouse.move(195, 400)
  const look = await watched(page, async () => {
    for (let step = 0; step < scrollSteps; step++) await page.mouse.wheel(0, -900)
  })
  return { ...look, heap: await heapOf(devtools) }
}

/** The frames drawn meanwhile, how many were missed, and the longest task. */
async function watched(page: Page, work: () => Promise<void>): Promise<Look> {
  await page.evaluate(watch)
  await work()
  const { times, tasks } = await page.evaluate<{ times: number[]; tasks: number[] }>(() => {
    const seen = Reflect.get(globalThis, 'seen')
    seen.isOver = true
    return seen
  })
  const due = Math.round(((times.at(-1) ?? 0) - (times[0] ?? 0)) / frameMs)
  return { frames: times.length, late: Math.max(0, due - times.length + 1) / Math.max(1, due), longest: Math.max(...tasks) }
}

async function heapOf(devtools: CDPSession): Promise<number> {
  await devtools.send('HeapProfiler.collectGarbage')
  const { usedSize } = await devtools.send('Runtime.getHeapUsage')
  return usedSize
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function showLook(when: string, bare: Look & { heap: number }, ours: Look & { heap: number }): void {
  show(`frames missed ${when}`, `${(100 * bare.late).toFixed(0)} %`, `${(100 * ours.late).toFixed(0)} %`)
  show('  longest task', `${bare.longest.toFixed(0)} ms`, `${ours.longest.toFixed(0)} ms`)
  show('  heap after it', mb(bare.heap), mb(ours.heap))
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

function show(what: string, bare: string, ours: string): void {
  console.log(`  ${what.padEnd(34)} bare ${bare.padStart(9)}   afield ${ours.padStart(9)}`)
}
