import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { BrowserContext, Page } from 'playwright-core'

const source = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Loads axe into every page opened from now on. */
export async function bringAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript({ path: source })
}

/** Serious and critical violations on the page, one line per element: the rule, where, and why. With `rules`, only of these. */
export async function seriousOn(page: Page, rules?: readonly string[]): Promise<string[]> {
  // A screen may change while it is checked, for example when its machine answers: a real violation is still there the second time.
  const found = await lookAt(page, rules)
  return found.length > 0 ? lookAt(page, rules) : found
}

async function lookAt(page: Page, rules: readonly string[] | undefined): Promise<string[]> {
  // Elements that are still animating have neither their final colour nor place.
  await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {}))))
  const options: RunOptions = {
    resultTypes: ['violations'],
    preload: false,
    ...(rules && { runOnly: { type: 'rule', values: [...rules] } })
  }
  const { violations } = await page.evaluate<AxeResults, RunOptions>(given => Reflect.get(globalThis, 'axe').run(document, given), options)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.target.join(' ')}: ${node.failureSummary?.split('\n')[1]?.trim() ?? ''}`))
}
