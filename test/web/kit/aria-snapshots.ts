import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import type { Test } from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { serveStories } from '../stories/serve.ts'
import { openStory, storyPaths } from './open-story.ts'

const began = Date.parse('2026-03-03T12:00:00Z')
/** What waits before it shows, such as a skeleton, has come by then. */
const laterMs = 30_000
/** When the clock of a story stands still: far from the next minute, however long the page took to load. */
export const stillAfterMs = began + laterMs + 5000
const mostMs = 10_000
/** So many pages load at once. */
const lanes = 2

/** Which stories a file is about, by the beginnings of their names: the first that fits. */
const groups = {
  work: /^\/\?story=work-/,
  deciding: /^\/\?story=(?:once|permission|plain|denying|deciding|choices|question|stopping|not-applied|hidden-paths)/,
  session: /^\/\?story=/,
  folder: /=conversation-(?:change|file|log|commit)/,
  conversation: /=conversation/,
  home: /=(?:home|leaving|catching-up|needs-you|palette|keys|search|archive|session-)/,
  joining: /=(?:welcome|create|restore|link|key|check|lock-offer|locked|insecure|no-storage|unknown|scan|pair)/,
  new: /=(?:new|take-over)/,
  machines: /=machine/,
  notifications: /=(?:notifications|quiet|unanswered|ntfy|webhook)/,
  settings: /./
}

export type Group = keyof typeof groups

/**
 * Compares what each story of a group has, as a screen reader finds it, with what `test/web/aria-snapshots` says: roles, names
 * and states, in order. With `TAP_SNAPSHOT=1` it writes the file.
 */
export async function checkAriaSnapshots(t: Test, group: Group): Promise<void> {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const isWriting = process.env['TAP_SNAPSHOT'] === '1'
  const known = ariaSnapshotsOf(group)
  const paths = await pathsOf(group, browser, origin)
  const found = new Map(paths.map(path => [path, '']))
  await inLanes(paths, async path => {
    const page = await openPage(browser)
    await openStory(page, origin, path, 'light')
    await page.clock.fastForward(laterMs)
    const look = () => snapshotOf(page, origin)
    const wanted = known.get(path)
    found.set(path, isWriting ? await settled(look) : await untilIs(wanted, look))
    if (!isWriting) t.equal(found.get(path), wanted, path)
    await page.context().close()
  })
  if (isWriting) writeFileSync(fileOf(group), sectionsOf(found))
  else t.same([...known.keys()], paths, 'no story is missing from the file, nor one of the file from the stories')
}

export function ariaSnapshotsOf(group: Group): Map<string, string> {
  return sectionsIn(fileOf(group))
}

function fileOf(group: Group): string {
  return join(import.meta.dirname, `../aria-snapshots/${group}.txt`)
}

export async function pathsOf(group: Group, browser: Browser, origin: string): Promise<string[]> {
  const groupOf = (path: string) => Object.entries(groups).find(([, names]) => names.test(path))?.[0]
  return (await storyPaths(browser, origin)).filter(path => groupOf(path) === group)
}

/** Resolves to the results, in the order of what they are of, without those that are missing. */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  perform: (item: Item) => Promise<Result | undefined>
): Promise<Result[]> {
  const results: (Result | undefined)[] = []
  const queue = items.entries()
  const performAll = async () => {
    for (const [at, item] of queue) results[at] = await perform(item)
  }
  await Promise.all(Array.from({ length: lanes }, performAll))
  return results.filter(result => result !== undefined)
}

/** Where nothing depends on the day, on chance, or on the page before. */
export async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    reducedMotion: 'reduce',
    locale: 'en-US',
    timezoneId: 'UTC'
  })
  await context.clock.install({ time: began })
  await context.addInitScript(() => {
    Math.random = () => 0.5
    crypto.getRandomValues = array => array
  })
  return context.newPage()
}

/** Of the sheet that is open, or of the whole page. */
export async function snapshotOf(page: Page, origin: string): Promise<string> {
  const sheet = page.locator('dialog[open]').last()
  const body = page.locator('body')
  // It may close meanwhile.
  const found =
    (await sheet.count()) > 0 ? await sheet.ariaSnapshot({ timeout: 1000 }).catch(() => body.ariaSnapshot()) : await body.ariaSnapshot()
  // Whole seconds depend on when exactly the story began.
  return found.replaceAll(new URL(origin).host, 'home.example').replaceAll(/\b\d+ s\b/g, '… s')
}

/** Looks again for a while, since a machine may answer a moment later. */
async function untilIs(wanted: string | undefined, look: () => Promise<string>): Promise<string> {
  const until = performance.now() + mostMs
  let found = await look()
  while (found !== wanted && performance.now() < until) found = await look()
  return found
}

async function settled(look: () => Promise<string>): Promise<string> {
  let found = await look()
  for (let same = 0; same < 4; ) {
    await setTimeout(250)
    const before = found
    found = await look()
    same = found === before ? same + 1 : 0
  }
  return found
}

export function sectionsIn(file: string): Map<string, string> {
  if (!existsSync(file)) return new Map()
  const [, ...parts] = readFileSync(file, 'utf8').split(/^# /m)
  return new Map(parts.map(part => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1).trimEnd()]))
}

export function sectionsOf(sections: ReadonlyMap<string, string>): string {
  return [...sections].map(([title, text]) => `# ${title}\n${text}\n`).join('\n')
}
